import { enqueueJobs } from './jobs.ts';
import { getMetrics } from './metrics.ts';
import { deleteQueueJobs, getHealth, getQueue, putQueue } from './queue.ts';
import { dropAllDead, dropDead, listDead, redriveAllDead, redriveDead } from './dead.ts';
import { listTenantJobs } from './waiting-jobs.ts';
import type { Route } from '../lib/lambda/route.ts';
import {
  deleteTenant,
  deleteTenantJobs,
  getTenant,
  listTenants,
  pauseTenant,
  putTenant,
  resumeTenant,
} from './tenants.ts';

/** Every call of the HTTP contract. Stack, handlers and the OpenAPI document all follow it. */
export const routes: readonly Route[] = [
  enqueueJobs,
  listTenants,
  getTenant,
  putTenant,
  deleteTenant,
  deleteTenantJobs,
  pauseTenant,
  resumeTenant,
  listTenantJobs,
  listDead,
  dropAllDead,
  dropDead,
  redriveAllDead,
  redriveDead,
  getQueue,
  putQueue,
  deleteQueueJobs,
  getHealth,
  getMetrics,
];
