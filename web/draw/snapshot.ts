// A picture of what stands on the screen, as PNG or SVG, without loading anything: a page's policy may forbid images
// from blob: and data:, so shapes, text and canvases are painted one by one with the styles that they have.

/** Ground around the picture. */
const MARGIN = 16;

const STYLES = [
  "fill",
  "fill-opacity",
  "stroke",
  "stroke-width",
  "stroke-opacity",
  "stroke-dasharray",
  "stroke-linecap",
  "stroke-linejoin",
  "paint-order",
  "opacity",
  "font-family",
  "font-size",
  "font-weight",
  "font-style",
  "text-anchor",
  "dominant-baseline",
  "visibility",
] as const;

/** Where the picture lies on the screen, and its pixels for one of the screen's: a host may scale the page. */
interface Frame {
  x: number;
  y: number;
  zoom: number;
  /** Of the picture, unscaled. */
  width: number;
  height: number;
}

function frameOf(picture: Element): Frame {
  const { x, y, width: seen } = picture.getBoundingClientRect();
  const style = getComputedStyle(picture);
  const [width, height] = [Number.parseFloat(style.width), Number.parseFloat(style.height)];
  const zoom = width / seen;
  return { x, y, width, height, zoom: Math.abs(zoom - 1) < 1e-3 ? 1 : zoom };
}

/** The box of something seen, from the corner of the picture, unscaled. */
function boxIn({ x, y, zoom }: Frame, seen: Element | Range): DOMRect {
  const box = seen.getBoundingClientRect();
  return new DOMRect((box.x - x) * zoom, (box.y - y) * zoom, box.width * zoom, box.height * zoom);
}

/** The drawing's own SVG with all styles written into it; canvases behind it become images inside it. */
export function toSvg(picture: Element): string {
  const frame = frameOf(picture);
  const namespace = "http://www.w3.org/2000/svg";
  // in a document of its own, where no page's policy has a say in what the file holds
  const file = document.implementation.createDocument(namespace, "svg");
  const root = file.documentElement;
  const [width, height] = [Math.ceil(frame.width) + 2 * MARGIN, Math.ceil(frame.height) + 2 * MARGIN];
  root.setAttribute("width", String(width));
  root.setAttribute("height", String(height));
  root.setAttribute("viewBox", `${-MARGIN} ${-MARGIN} ${width} ${height}`);
  for (const element of picture.querySelectorAll<HTMLCanvasElement | SVGSVGElement>("canvas, svg")) {
    if (element.parentElement?.closest("svg")) continue;
    const at = boxIn(frame, element);
    if (element instanceof HTMLCanvasElement) {
      const image = file.createElementNS(namespace, "image");
      image.setAttribute("href", element.toDataURL());
      image.setAttribute("preserveAspectRatio", "none");
      place(image, at);
      root.append(image);
    } else {
      const copy = file.importNode(element, true);
      const originals = [element, ...element.querySelectorAll("*")];
      [copy, ...copy.querySelectorAll("*")].forEach((node, i) => {
        const style = getComputedStyle(originals[i] as Element);
        for (const name of STYLES) node.setAttribute(name, style.getPropertyValue(name));
        node.removeAttribute("class");
        node.removeAttribute("data-symbol");
        if (node.hasAttribute("hidden")) node.remove();
      });
      place(copy, at);
      copy.setAttribute("overflow", "visible");
      root.append(copy);
    }
  }
  // Comments are the template's marks, not the drawing's.
  return new XMLSerializer().serializeToString(root).replace(/<!--.*?-->/gs, "");
}

function place(element: Element, at: DOMRect): void {
  element.setAttribute("x", String(at.x));
  element.setAttribute("y", String(at.y));
  element.setAttribute("width", String(at.width));
  element.setAttribute("height", String(at.height));
}

/** Everything seen in the element, at `scale` pixels for one of the page, on the given ground. */
export async function toPng(picture: Element, ground: string, scale = 2): Promise<Blob> {
  const frame = frameOf(picture);
  const canvas = document.createElement("canvas");
  canvas.width = Math.ceil((frame.width + 2 * MARGIN) * scale);
  canvas.height = Math.ceil((frame.height + 2 * MARGIN) * scale);
  const context = canvas.getContext("2d");
  if (!context) throw new Error("The browser refused a canvas to draw on.");
  context.fillStyle = ground;
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.setTransform(scale, 0, 0, scale, MARGIN * scale, MARGIN * scale);
  paintElement(context, picture, frame);
  return new Promise((resolve, reject) => {
    canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("The browser refused the picture."))));
  });
}

function paintElement(context: CanvasRenderingContext2D, element: Element, frame: Frame): void {
  if (element.localName === "defs") return;
  const style = getComputedStyle(element);
  if (style.display === "none" || style.visibility === "hidden" || element.classList.contains("unseen"))
    return;
  context.save();
  context.globalAlpha *= Number(style.opacity);
  if (element instanceof HTMLCanvasElement) {
    const { x, y, width, height } = boxIn(frame, element);
    context.imageSmoothingEnabled = false;
    context.drawImage(element, x, y, width, height);
  } else if (element instanceof SVGElement && !(element instanceof SVGSVGElement)) {
    clipTo(context, element as SVGGraphicsElement, frame);
    paintShape(context, element as SVGGraphicsElement, style, frame);
  } else if (element instanceof HTMLElement) {
    paintBox(context, style, boxIn(frame, element));
  }
  for (const child of element.childNodes) {
    if (child instanceof Element) paintElement(context, child, frame);
    else if (child instanceof Text && element instanceof HTMLElement) paintText(context, child, style, frame);
  }
  context.restore();
}

function paintBox(
  context: CanvasRenderingContext2D,
  style: CSSStyleDeclaration,
  { x, y, width, height }: DOMRect,
): void {
  context.fillStyle = style.backgroundColor;
  context.fillRect(x, y, width, height);
  const border = Number.parseFloat(style.borderTopWidth);
  if (border > 0 && style.borderTopStyle !== "none") {
    context.strokeStyle = style.borderTopColor;
    context.lineWidth = border;
    context.strokeRect(x + border / 2, y + border / 2, width - border, height - border);
  }
}

/** The shorthand by hand: a browser has none for a font with tabular figures. */
const fontOf = ({ fontStyle, fontWeight, fontSize, fontFamily }: CSSStyleDeclaration): string =>
  `${fontStyle} ${fontWeight} ${fontSize} ${fontFamily}`;

function paintText(
  context: CanvasRenderingContext2D,
  text: Text,
  style: CSSStyleDeclaration,
  frame: Frame,
): void {
  const words = text.data.replace(/\s+/g, " ");
  if (words.trim() === "") return;
  const range = document.createRange();
  range.selectNodeContents(text);
  context.font = fontOf(style);
  context.fillStyle = style.color;
  context.textBaseline = "middle";
  // A run of text that wraps has a box for each line: find where its words fall.
  const lines = new Map<number, { x: number; y: number; text: string }>();
  for (const { index, 0: word } of text.data.matchAll(/\S+/g)) {
    range.setStart(text, index);
    range.setEnd(text, index + word.length);
    const box = boxIn(frame, range);
    const line = lines.get(Math.round(box.y));
    if (line) line.text += ` ${word}`;
    else lines.set(Math.round(box.y), { x: box.x, y: box.y + box.height / 2, text: word });
  }
  for (const line of lines.values()) context.fillText(line.text, line.x, line.y);
}

function paintShape(
  context: CanvasRenderingContext2D,
  shape: SVGGraphicsElement,
  style: CSSStyleDeclaration,
  frame: Frame,
): void {
  const matrix = matrixIn(frame, shape);
  const path = outline(shape);
  if (!matrix || (!path && !(shape instanceof SVGTextElement))) return;
  context.save();
  context.transform(matrix.a, matrix.b, matrix.c, matrix.d, matrix.e, matrix.f);
  if (style.fill !== "none") {
    context.fillStyle = style.fill;
    context.globalAlpha *= Number(style.fillOpacity);
    if (path) context.fill(path);
    else paintSvgText(context, shape as SVGTextElement, style);
    context.globalAlpha /= Number(style.fillOpacity) || 1;
  }
  if (path && style.stroke !== "none") {
    context.strokeStyle = style.stroke;
    context.lineWidth = Number.parseFloat(style.strokeWidth);
    context.globalAlpha *= Number(style.strokeOpacity);
    const dashes = style.strokeDasharray === "none" ? [] : style.strokeDasharray.split(/[ ,]+/);
    context.setLineDash(dashes.map(Number.parseFloat));
    context.stroke(path);
  }
  context.restore();
}

/** From the shape's own coordinates to those of the picture, unscaled. */
function matrixIn(frame: Frame, shape: SVGGraphicsElement): DOMMatrix | null {
  const svg = shape.ownerSVGElement;
  const [inner, outer] = [shape.getScreenCTM?.(), svg?.getScreenCTM()];
  if (!svg || !inner || !outer) return null;
  // WebKit's matrices leave out what a host does to the page around the drawing: it cancels out here in every engine.
  const within = DOMMatrix.fromMatrix(outer).inverse().multiply(inner);
  const box = boxIn(frame, svg);
  const placed = new DOMMatrix().translate(box.x, box.y);
  const { x, y, width, height } = svg.viewBox.baseVal;
  const unit = width > 0 ? placed.scale(box.width / width, box.height / height).translate(-x, -y) : placed;
  return unit.multiply(within);
}

/** Obeys a clip-path attribute that names a clipPath of one rectangle. */
function clipTo(context: CanvasRenderingContext2D, shape: SVGGraphicsElement, frame: Frame): void {
  const id = shape.getAttribute("clip-path")?.match(/^url\(#(.+)\)$/)?.[1];
  const root = shape.getRootNode() as ParentNode;
  const rect = id ? root.querySelector<SVGRectElement>(`clipPath[id="${CSS.escape(id)}"] rect`) : null;
  const matrix = matrixIn(frame, shape);
  const path = rect && outline(rect);
  if (!path || !matrix) return;
  const placed = new Path2D();
  placed.addPath(path, matrix);
  context.clip(placed);
}

function outline(shape: SVGElement): Path2D | null {
  const path = new Path2D();
  const number = (name: string) => Number(shape.getAttribute(name) ?? 0);
  switch (shape.localName) {
    case "path":
      return new Path2D(shape.getAttribute("d") ?? "");
    case "line":
      path.moveTo(number("x1"), number("y1"));
      path.lineTo(number("x2"), number("y2"));
      return path;
    case "rect":
      path.rect(number("x"), number("y"), number("width"), number("height"));
      return path;
    case "circle":
      path.arc(number("cx"), number("cy"), number("r"), 0, 2 * Math.PI);
      return path;
    case "ellipse":
      path.ellipse(number("cx"), number("cy"), number("rx"), number("ry"), 0, 0, 2 * Math.PI);
      return path;
    case "polyline":
    case "polygon": {
      const points = (shape.getAttribute("points") ?? "").trim().split(/\s+/).join(" L");
      return new Path2D(`M${points}${shape.localName === "polygon" ? "Z" : ""}`);
    }
    default:
      return null;
  }
}

function paintSvgText(
  context: CanvasRenderingContext2D,
  shape: SVGTextElement,
  style: CSSStyleDeclaration,
): void {
  const aligns: Record<string, CanvasTextAlign> = { middle: "center", end: "right" };
  context.font = fontOf(style);
  context.textAlign = aligns[style.textAnchor] ?? "left";
  context.textBaseline = style.dominantBaseline === "central" ? "middle" : "alphabetic";
  const x = Number(shape.getAttribute("x") ?? 0);
  const y = Number(shape.getAttribute("y") ?? 0);
  context.fillText((shape.textContent ?? "").replace(/\s+/g, " ").trim(), x, y);
}
