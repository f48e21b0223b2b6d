// How a size is told, in each of the ways that hosts listen to; none of them minds the others'.
// Based on: the messages of Canvas ("lti.frameResize"), Embedly, open-iframe-resizer 2, H5P's resizer and WordPress's
// oEmbed frames.

/** In CSS pixels, whole. */
export interface Size {
  width: number;
  height: number;
}

/** What is known of the host. */
export interface Host {
  id: string;
  address: string;
  /** WordPress's, or "". */
  secret: string;
  /** Whether it speaks as open-iframe-resizer, or as H5P, does. */
  asks: boolean;
  h5p: boolean;
}

const dimensions = ({ width, height }: Size) => ({ type: "iframe-resized", width, height });
const wordPress = ({ height }: Size, { secret }: Host) => ({ message: "height", value: height, secret });
const prepare = ({ height }: Size) => ({
  context: "h5p",
  action: "prepareResize",
  scrollHeight: height,
  clientHeight: height,
});

/** What a host is told of a new size. */
export function announcements(size: Size, host: Host): unknown[] {
  const { width, height } = size;
  const lti = { subject: "lti.frameResize", height };
  return [
    { type: "posenc:resize", v: 1, id: host.id, width, height },
    lti,
    JSON.stringify(lti), // IMathAS reads text only
    JSON.stringify({ src: host.address, context: "iframe.resize", height }),
    ...(host.secret ? [wordPress(size, host)] : []),
    ...(host.asks ? [dimensions(size)] : []),
    ...(host.h5p ? [prepare(size)] : []),
  ];
}

/** What a host's message makes known of it. */
export function learn(data: Readonly<Record<string, unknown>>, host: Host): void {
  if (data.type === "iframe-child-init") host.asks = true;
  if (data.context === "h5p" && data.action === "hello") host.h5p = true;
}

/** What a host's message is answered with; null for what asks for no size. */
export function answer(data: Readonly<Record<string, unknown>>, size: Size, host: Host): unknown {
  if (data.type === "iframe-child-init" || data.type === "iframe-get-child-dimensions") {
    return dimensions(size);
  }
  if (data.context === "h5p") {
    if (data.action === "hello" || data.action === "resize") return prepare(size);
    if (data.action === "resizePrepared") {
      return { context: "h5p", action: "resize", scrollHeight: size.height };
    }
  }
  if (data.message === "ready" && host.secret && data.secret === host.secret) return wordPress(size, host);
  return null;
}

/** Asks whether the host speaks H5P. */
export const HELLO = { context: "h5p", action: "hello" };
