/** Settings whose stacks differ in more than numbers. */
export const variants = {
  standard: {},
  valkey: { engine: 'valkey', durability: 'sync', nodeType: 'cache.m7g.large', replicas: '2' },
  alone: { replicas: '0', reserveConcurrency: 'false', queue: 'other-1' },
  jwt: {
    'auth.api': 'jwt',
    'auth.jwt.issuer': 'https://issuer.example',
    'auth.jwt.audience': 'rota,other',
    'auth.jwt.scopes.operate': 'admin',
  },
  ipv6: { egress: 'ipv6', endpoint: 'none', 'webhook.allowedHosts': 'example.com' },
  nat: { egress: 'nat' },
  password: { redisAuth: 'password' },
};
