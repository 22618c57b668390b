import { expect, it } from 'vitest';
import type { Sync } from '../../client/types';
import { changeOf, draftOf, newSync } from './sync';

const sync: Sync = {
  live: false,
  createdAt: '',
  updatedAt: '',
  enabled: true,
  protocol: 's3',
  region: 'eu',
  bucket: 'shops',
  keys: ['a b.csv', 'c.csv'],
  hasCredentials: true,
  status: 'waiting',
};

it('a draft that is not edited changes nothing, and keeps the credentials', () => {
  expect(changeOf(draftOf(sync), draftOf(sync))).toEqual({ protocol: 's3' });
});

it('a change names what is edited, and clears what is emptied', () => {
  const draft = { ...draftOf(sync), region: '', keys: ' a b.csv \n', accessKeyId: 'A', secretAccessKey: 's' };
  expect(changeOf(draftOf(sync), draft)).toEqual({
    protocol: 's3',
    region: null,
    keys: ['a b.csv'],
    accessKeyId: 'A',
    secretAccessKey: 's',
  });
  expect(changeOf(undefined, { ...newSync, urls: 'https://a/\n\nhttps://b/' })).toEqual({
    enabled: true,
    protocol: 'http',
    urls: ['https://a/', 'https://b/'],
  });
});
