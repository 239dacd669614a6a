import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { releases } from '../support/releases.ts';
import { type CfnTemplate, losses } from '../support/replacement.ts';
import { synthesize } from './template.ts';
import { variants } from './variants.ts';

const templateOf = (settings: Readonly<Record<string, unknown>>): CfnTemplate =>
  JSON.parse(JSON.stringify(synthesize(settings).template.toJSON()));

describe.each(releases)('an upgrade from %s', (version) => {
  const file = join(import.meta.dirname, '../fixtures/releases', version, 'templates.json');
  const released: Record<string, CfnTemplate> = JSON.parse(readFileSync(file, 'utf8'));
  const upgrades = Object.entries(variants).filter(([name]) => name in released);

  it.each(upgrades)('loses nothing that is kept (%s)', (name, settings) => {
    expect(losses(released[name] ?? { Resources: {} }, templateOf(settings))).toEqual([]);
  });

  it('is tried for every variant that it had', () => {
    expect(upgrades.map(([name]) => name).toSorted()).toEqual(Object.keys(released).toSorted());
  });
});

describe('a loss', () => {
  const before = templateOf(variants.standard);
  const idOf = (type: string) => Object.entries(before.Resources).find(([, { Type }]) => Type === type)?.[0] ?? '';
  const changed = (type: string, change: (properties: Record<string, unknown>) => void): string[] => {
    const after = structuredClone(before);
    change(after.Resources[idOf(type)]?.Properties ?? {});
    return losses(before, after);
  };
  const cache = 'AWS::ElastiCache::ReplicationGroup';
  const jobs = `${idOf(cache)} WILL_REPLACE: the jobs would be lost`;

  it('is a cache that is encrypted otherwise, stands elsewhere or has another engine', () => {
    expect(changed(cache, (properties) => (properties.AtRestEncryptionEnabled = false))).toEqual([jobs]);
    expect(changed(cache, (properties) => (properties.CacheSubnetGroupName = 'another'))).toEqual([jobs]);
    expect(changed(cache, (properties) => (properties.KmsKeyId = 'another'))).toEqual([jobs]);
    expect(changed(cache, (properties) => (properties.Engine = 'valkey'))).toEqual([jobs]);
    expect(changed(cache, (properties) => (properties.CacheNodeType = 'cache.m7g.large'))).toEqual([]);
  });

  it('is a resource under another id, which takes its place', () => {
    const after = structuredClone(before);
    const id = idOf('AWS::Logs::LogGroup');
    const group = after.Resources[id];
    delete after.Resources[id];
    if (group) after.Resources.Renamed = group;
    expect(losses(before, after)).toEqual([`${id} WILL_DESTROY: the log would be lost`]);
  });

  it('is a network or an API of another kind', () => {
    const [vpc, api] = ['AWS::EC2::VPC', 'AWS::ApiGatewayV2::Api'];
    expect(changed(vpc, (properties) => (properties.CidrBlock = '10.9.0.0/16'))).toContain(
      `${idOf(vpc)} WILL_REPLACE: the cache, which stands in it would be lost`,
    );
    expect(changed(api, (properties) => (properties.ProtocolType = 'WEBSOCKET'))).toEqual([
      `${idOf(api)} WILL_REPLACE: the URL that producers call would be lost`,
    ]);
  });
});

describe('a change of settings', () => {
  const before = templateOf(variants.standard);
  const replacesCache = (settings: Readonly<Record<string, unknown>>) =>
    losses(before, templateOf(settings)).some((loss) => loss.includes('the jobs would be lost'));

  it.each([
    { nodeType: 'cache.m7g.large' },
    { egress: 'nat' },
    { egress: 'ipv6', endpoint: 'none' },
    { capacity: '200', reserveConcurrency: 'false' },
    { logRetentionDays: '7' },
    variants.jwt,
  ])('keeps the cache: %o', (settings) => {
    expect(replacesCache(settings)).toBe(false);
  });

  it.each([{ engine: 'valkey' }, { replicas: '2' }])(
    'makes a new and empty cache, as its sentence says: %o',
    (settings) => {
      expect(replacesCache(settings)).toBe(true);
    },
  );
});
