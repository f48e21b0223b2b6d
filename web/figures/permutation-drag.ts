// Dragging a word along its row. Positions are read in the row's own pixels, so a page that is scaled drags right.

export interface Row {
  /** The list whose children are the places. */
  list(): HTMLElement | null;
  /** Word at each place, as drawn. */
  order(): readonly number[];
  move(word: number, place: number): void;
  /** The drag is over: `from` is the place to go back to if it was broken off. */
  end(word: number, from: number | null): void;
}

/** Pixels before a press becomes a drag: a tap only selects. */
const SLACK = 4;

export class WordDrag {
  /** The word that is held, once it is more than a press. */
  word: number | undefined;

  #row: Row;
  #held: { word: number; from: number; startX: number; pointer: number; x: number } | undefined;

  constructor(row: Row) {
    this.#row = row;
  }

  down = (event: PointerEvent, word: number): void => {
    if (event.button !== 0 || !event.isPrimary) return;
    const from = this.#row.order().indexOf(word);
    this.#held = { word, from, startX: event.clientX, pointer: event.pointerId, x: 0 };
    (event.currentTarget as Element).setPointerCapture(event.pointerId);
  };

  move = (event: PointerEvent): void => {
    const held = this.#held;
    const list = this.#row.list();
    if (held?.pointer !== event.pointerId || !list) return;
    held.x = (event.clientX - held.startX) * (list.offsetWidth / list.getBoundingClientRect().width);
    if (this.word === undefined && Math.abs(held.x) < SLACK) return;
    this.word = held.word;
    const count = list.children.length;
    const place = Math.round(held.from + held.x / this.#step(list));
    this.#row.move(held.word, Math.min(count - 1, Math.max(0, place)));
    this.follow();
  };

  up = (event: PointerEvent): void => this.#finish(event.pointerId, event.type !== "pointerup");

  /** Breaks the drag off; false if there is none. */
  cancel(): boolean {
    if (this.word === undefined) return false;
    this.#finish(this.#held?.pointer, true);
    return true;
  }

  /** Forgets the drag: the row is leaving the page. */
  release(): void {
    this.#held = this.word = undefined;
    this.follow();
  }

  #finish(pointer: number | undefined, broken: boolean): void {
    const held = this.#held;
    if (!held || held.pointer !== pointer) return;
    this.#held = undefined;
    if (this.word === undefined) return;
    this.word = undefined;
    this.follow();
    this.#row.end(held.word, broken ? held.from : null);
  }

  /** Puts the held word under the pointer: after each move and after each render. */
  follow(): void {
    const list = this.#row.list();
    const held = this.#held;
    if (!list) return;
    const order = this.#row.order();
    for (const [place, element] of [...list.children].entries()) {
      const here = held !== undefined && this.word !== undefined && order[place] === held.word;
      const x = here ? held.x - (place - held.from) * this.#step(list) : 0;
      (element as HTMLElement).style.transform = here ? `translateX(${x}px)` : "";
      element.classList.toggle("held", here);
    }
  }

  #step(list: HTMLElement): number {
    return list.offsetWidth / Math.max(1, list.children.length);
  }
}

/** Lets each word glide from its old place to the new one, all but the held one. */
export function glide(
  list: HTMLElement,
  before: readonly number[],
  after: readonly number[],
  held: number | undefined,
): void {
  if (globalThis.matchMedia?.("(prefers-reduced-motion: reduce)").matches) return;
  const step = list.offsetWidth / Math.max(1, after.length);
  for (const [place, word] of after.entries()) {
    const moved = before.indexOf(word) - place;
    if (moved === 0 || word === held) continue;
    list.children[place]?.animate([{ transform: `translateX(${moved * step}px)` }, { transform: "none" }], {
      duration: 220,
      easing: "cubic-bezier(0.2, 0, 0, 1)",
    });
  }
}
