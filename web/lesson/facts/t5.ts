// Section 15. The buckets of an encoder and of a decoder.

import type { Posenc } from "../../posenc.ts";
import { at, last } from "./arrays.ts";
import { fixed, type Table } from "./table.ts";

export const numBuckets = 32;
const maxDistance = 128;

/** Bucket of each relative position, which is key minus query. */
const encoder = (posenc: Posenc, relativePositions: Int32Array) =>
  posenc.t5Buckets(relativePositions, { numBuckets, maxDistance, bidirectional: true });
const decoder = (posenc: Posenc, relativePositions: Int32Array) =>
  posenc.t5Buckets(relativePositions, { numBuckets, maxDistance, bidirectional: false });

export const t5Parameters = (numHeads: number) => numBuckets * numHeads;

/** The smallest distance whose bucket is that of all keys far before the query. */
function lastBucketFrom(bucketsOf: typeof encoder, posenc: Posenc): number {
  const limit = 10_000;
  const before = bucketsOf(
    posenc,
    Int32Array.from({ length: limit + 1 }, (_, distance) => -distance),
  );
  return before.indexOf(last(before));
}

export function numbers(posenc: Posenc): Record<string, string> {
  return {
    t5_last_bucket_from_encoder: fixed(lastBucketFrom(encoder, posenc), 0),
    t5_last_bucket_from_decoder: fixed(lastBucketFrom(decoder, posenc), 0),
    t5_parameters_12_heads: fixed(t5Parameters(12), 0),
  };
}

export function tables(posenc: Posenc): Record<string, Table> {
  const distances = Int32Array.of(0, 1, 7, 8, 12, 15, 16, 32, 64, 91, 113, 1000);
  const before = distances.map((distance) => -distance);
  const columns = [encoder(posenc, before), encoder(posenc, distances), decoder(posenc, before)];
  return {
    t5_buckets: {
      caption: `Buckets by distance, for ${numBuckets} buckets and max_distance ${maxDistance}.`,
      head: ["Distance", "Encoder, key before", "Encoder, key after", "Decoder, key before"],
      rows: Array.from(distances, (distance, i) => [distance, ...columns.map((buckets) => at(buckets, i))]),
    },
  };
}
