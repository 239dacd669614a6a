/** A tenant with a label of its own, and when it was last among the top. */
interface Seat {
  readonly tenant: string;
  readonly lastInMs: number;
}

/** A tenant that had a label, and the last time that it had. */
interface Left {
  readonly tenant: string;
  readonly leftMs: number;
}

export interface Seating {
  readonly seats: readonly Seat[];
  readonly left: readonly Left[];
}

/** A label is kept for so long after its tenant was last among the top: each new one is billed by the hour. */
const STICKY_MS = 3_600_000;

/** Most labels that may have been given up within the hour. When there are as many, no further tenant gets one. */
const MOST_LEFT = 40;

/**
 * Who has a label now. Whoever is among the top gets one, in the order given: a free one, or that of the tenant that has
 * been out of the top for longest. At most `most` at once, and at most `most` + 40 different ones within an hour.
 */
export function seat(before: Seating, top: readonly string[], most: number, nowMs: number): Seating {
  const wanted = new Set(top);
  const seats = new Map<string, number>();
  const left = new Map(before.left.filter(({ leftMs }) => nowMs - leftMs < STICKY_MS).map((one) => [one.tenant, one]));
  const leave = (tenant: string) => {
    seats.delete(tenant);
    left.set(tenant, { tenant, leftMs: nowMs });
  };
  for (const { tenant, lastInMs } of before.seats) seats.set(tenant, wanted.has(tenant) ? nowMs : lastInMs);
  for (const [tenant, lastInMs] of seats) if (nowMs - lastInMs >= STICKY_MS) leave(tenant);

  for (const tenant of wanted) {
    if (seats.has(tenant)) continue;
    const [longestOut] = [...seats].filter(([name]) => !wanted.has(name)).toSorted(([, a], [, b]) => a - b);
    const isFree = seats.size < most;
    if (!isFree && longestOut === undefined) continue;
    // One that comes back has its label paid for already.
    if (!left.has(tenant) && left.size >= MOST_LEFT) continue;
    if (!isFree && longestOut !== undefined) leave(longestOut[0]);
    left.delete(tenant);
    seats.set(tenant, nowMs);
  }
  return {
    seats: [...seats].map(([tenant, lastInMs]) => ({ tenant, lastInMs })),
    left: [...left.values()],
  };
}

/** The top by several orders, the highest first and in turns, `most` in all; an order passes over whom it gives null. */
export function topOf<T extends { readonly tenant: string }>(
  readings: readonly T[],
  most: number,
  orders: readonly ((reading: T) => number | null)[],
): string[] {
  const places = Math.floor(most / orders.length);
  const ranked = orders.map((order) =>
    readings
      .flatMap((reading) => {
        const rank = order(reading);
        return rank === null ? [] : [{ tenant: reading.tenant, rank }];
      })
      .toSorted((a, b) => b.rank - a.rank || (a.tenant < b.tenant ? -1 : 1)),
  );
  const inTurns = Array.from({ length: places }, (_, place) => ranked.map((list) => list[place]?.tenant));
  return [...new Set(inTurns.flat())].filter((tenant) => tenant !== undefined);
}
