/** List prices in US dollars, before taxes, discounts and free tiers. What differs elsewhere is the price, not the model. */
export const priceList = { region: 'us-east-1', asOf: '2026-11' };

interface Price {
  readonly item: string;
  readonly unit: string;
  readonly usd: number;
}

/** By the month: of 730 hours. */
export const HOURS = 730;

export const prices = {
  lambdaTime: { item: 'Lambda, arm64', unit: 'GB-second', usd: 0.0000133334 },
  lambdaRequest: { item: 'Lambda request', unit: 'million', usd: 0.2 },
  httpApi: { item: 'HTTP API request, each 512 KB', unit: 'million', usd: 1 },
  schedule: { item: 'EventBridge Scheduler invocation', unit: 'million', usd: 1 },
  endpoint: { item: 'Interface endpoint', unit: 'zone-hour', usd: 0.01 },
  crossZone: { item: 'Traffic between zones, each direction', unit: 'GB', usd: 0.01 },
  metric: { item: 'Custom metric', unit: 'month', usd: 0.3 },
  alarm: { item: 'Alarm', unit: 'month', usd: 0.1 },
  dashboard: { item: 'Dashboard', unit: 'month', usd: 3 },
  insightsRule: { item: 'Contributor Insights rule', unit: 'month', usd: 0.5 },
  insightsEvents: { item: 'Contributor Insights matched event', unit: 'million', usd: 0.02 },
  logs: { item: 'Logs ingested', unit: 'GB', usd: 0.5 },
  sqsRequest: { item: 'SQS request, each 64 KB', unit: 'million', usd: 0.4 },
  sqsFair: { item: 'SQS request with a message group (fair queue), on top', unit: 'million', usd: 0.1 },
} as const satisfies Record<string, Price>;

interface NodePrice {
  /** Memory that the engine may use, in GiB, before a quarter is set aside. */
  readonly gib: number;
  readonly usdPerHour: { readonly redis: number; readonly valkey: number };
}

/** Cache nodes on demand. Valkey is a fifth cheaper than Redis OSS. */
export const nodes: Readonly<Record<string, NodePrice>> = {
  'cache.t4g.micro': { gib: 0.5, usdPerHour: { redis: 0.016, valkey: 0.0128 } },
  'cache.t4g.small': { gib: 1.37, usdPerHour: { redis: 0.032, valkey: 0.0256 } },
  'cache.t4g.medium': { gib: 3.09, usdPerHour: { redis: 0.065, valkey: 0.052 } },
  'cache.m7g.large': { gib: 6.38, usdPerHour: { redis: 0.158, valkey: 0.1264 } },
  'cache.r7g.large': { gib: 13.07, usdPerHour: { redis: 0.219, valkey: 0.1752 } },
  'cache.r7g.xlarge': { gib: 26.32, usdPerHour: { redis: 0.437, valkey: 0.3496 } },
};
