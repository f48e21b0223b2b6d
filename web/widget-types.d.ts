/** A front-end module as anywidget asks for it: https://anywidget.dev/en/afm/ */
declare const widget: {
  /** Shows the figure that the model names in `el`; the function returned takes it away. */
  render(given: {
    model: {
      get(name: string): unknown;
      set?(name: string, value: unknown): void;
      save_changes?(): void;
      on?(event: string, listener: () => void): void;
      off?(event: string, listener: () => void): void;
    };
    el: HTMLElement;
  }): Promise<() => void>;
};
export default widget;
