/** What the page gets from its server. Times are in ms since the epoch; lists of points are as long as `times`. */
export interface DashboardView {
  readonly nowMs: number;
  readonly queue: string;
  /** The points of all charts. */
  readonly times: readonly number[];
  readonly monitor: {
    /** When monitor last emitted, to 10 s; null before its first reading. */
    readonly lastMs: number | null;
    readonly everySeconds: number;
    readonly onAwsSeconds: number;
  };
  readonly alarms: readonly AlarmView[];
  readonly tenants: TenantsView;
  readonly widgets: readonly WidgetView[];
}

export interface AlarmView {
  readonly name: string;
  readonly state: 'OK' | 'ALARM' | 'INSUFFICIENT_DATA';
  readonly sinceMs: number;
  readonly reason: string;
  readonly condition: string;
  readonly description: string;
}

export interface TenantsView {
  readonly rows: readonly TenantRow[];
  /** Why plans, weights and depths are not known, or null when they are. */
  readonly trouble: string | null;
}

/** A tenant with waiting jobs or a share of the last minutes; `other` stands for all that have no metrics of their own. */
export interface TenantRow {
  readonly tenant: string;
  readonly other: boolean;
  readonly plan: string | null;
  readonly weight: number | null;
  readonly depth: number | null;
  readonly inFlight: number | null;
  readonly oldestAgeSeconds: number | null;
  /** Why its next job does not run yet; null when none waits or the API did not say. */
  readonly because: string | null;
  /** 0 to 1, as monitor last emitted them. */
  readonly realised: number | null;
  readonly entitled: number | null;
}

interface Placed {
  readonly title: string;
  /** In the body's grid of 24 columns. */
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export interface LineView {
  readonly label: string;
  /** The tenant that the line is of, which has its colour in all charts; null for a line of anything else. */
  readonly tenant: string | null;
  /** Whether the line is of all tenants together that have none of their own. */
  readonly other: boolean;
  readonly axis: 'left' | 'right';
  /** Position among the widget's rows: a further row of the same tenant is drawn dashed. */
  readonly row: number;
  readonly values: readonly (number | null)[];
}

export interface AxisView {
  readonly label: string;
  readonly min: number | null;
  readonly max: number | null;
}

export type WidgetView = Placed &
  (
    | {
        readonly kind: 'chart';
        readonly lines: readonly LineView[];
        readonly left: AxisView;
        readonly rightLabel: string;
      }
    | { readonly kind: 'elsewhere'; readonly why: string }
  );
