import { type JobModule, jobs as shipped } from 'rota/jobs';

/** The thumbnails of this app, and of the types that ship the one for trying things out. */
export const jobs: Readonly<Record<string, JobModule | undefined>> = {
  thumbnail: () => import('./thumbnail.ts'),
  echo: shipped.echo,
};
