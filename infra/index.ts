export { SettingsError } from '../functions/lib/config/faults.ts';
export type { GivenSettings, Settings } from '../functions/lib/config/table.ts';
export type { Trust } from './constructs/grants.ts';
export { FairQueue, type FairQueueProps } from './constructs/fair-queue.ts';
export type { Processor } from './constructs/functions.ts';
export type { QueueSubnets } from './constructs/network.ts';
