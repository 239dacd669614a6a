import { App } from 'aws-cdk-lib';
import { GalleryStack } from './stack.ts';

const app = new App();
new GalleryStack(app, 'Gallery', { issuer: String(app.node.tryGetContext('issuer') ?? 'https://issuer.example') });
