import { Construct } from 'constructs';
import type { Settings } from '../../functions/lib/config/table.ts';
import { Api } from './api.ts';
import { Cache } from './cache.ts';
import { Functions } from './functions.ts';
import { Network } from './network.ts';
import { Schedules } from './schedules.ts';

interface FairQueueProps {
  readonly settings: Settings;
}

/**
 * A whole queue. The ids in here are part of what is deployed: another one means another resource, and another cache
 * means an empty queue.
 */
export class FairQueue extends Construct {
  readonly cache: Cache;
  readonly functions: Functions;
  readonly api: Api;

  constructor(scope: Construct, id: string, { settings }: FairQueueProps) {
    super(scope, id);
    const network = new Network(this, 'Network', { settings });
    this.cache = new Cache(this, 'Cache', { settings, network });
    this.functions = new Functions(this, 'Functions', { settings, network, cache: this.cache });
    this.api = new Api(this, 'Api', { settings, functions: this.functions });
    new Schedules(this, 'Schedules', {
      everyMinute: { dispatch: this.functions.dispatch, monitor: this.functions.monitor },
    });
  }
}
