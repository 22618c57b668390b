/**
 * The page that the links of mails and the first start open: it signs in, and uses one-time tokens. The token follows
 * `#`, so it reaches the server only in the body of the request that uses it.
 */
import type { FastifyPluginAsync } from 'fastify';
import { protectPages } from '../../http/answers/headers.js';

const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Fenceline</title>
<style>
body { font: 16px/1.5 system-ui, sans-serif; max-width: 26rem; margin: 3rem auto; padding: 0 1rem; }
label { display: block; margin: .75rem 0; }
input { display: block; width: 100%; box-sizing: border-box; font: inherit; padding: .4rem; }
button { font: inherit; padding: .4rem 1rem; }
[role=alert] { color: #a00000; }
</style>
</head>
<body>
<h1>Fenceline</h1>
<main id="main" aria-live="polite"></main>
<noscript>This page requires JavaScript.</noscript>
<script src="/account.js"></script>
</body>
</html>
`;

const script = `'use strict';
const main = document.getElementById('main');
const [, purpose = '', token = ''] = /^#(\\w+)=(\\S+)$/.exec(location.hash) ?? [];

async function call(method, path, body) {
  const options = { method, headers: { 'Content-Type': 'application/json' } };
  if (body) options.body = JSON.stringify(body);
  const response = await fetch(path, options);
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.meta.message);
  return answer;
}

function element(name, text, properties = {}) {
  const made = document.createElement(name);
  made.textContent = text;
  return Object.assign(made, properties);
}

function show(...elements) {
  main.replaceChildren(...elements);
}

/** Shows a form that calls \`submit\` with its values, and what went wrong. */
function showForm(title, fields, label, submit) {
  const form = document.createElement('form');
  const problem = element('p', '', { role: 'alert' });
  for (const [name, text, type, autocomplete] of fields) {
    const wrapper = element('label', text);
    wrapper.append(Object.assign(document.createElement('input'), { name, type, autocomplete, required: true }));
    form.append(wrapper);
  }
  form.append(element('button', label), problem);
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    problem.textContent = '';
    try {
      await submit(Object.fromEntries(new FormData(form)));
    } catch (error) {
      problem.textContent = error.message;
    }
  });
  show(element('h2', title), form);
}

const anyPassword = [
  'password',
  'Password of your account, or of a new one (at least 12 characters)',
  'password',
  'current-password',
];
const newPassword = ['password', 'Password, at least 12 characters', 'password', 'new-password'];

function showSignIn(message = 'Sign in') {
  const fields = [
    ['email', 'Mail address', 'email', 'username'],
    ['password', 'Password', 'password', 'current-password'],
  ];
  showForm(message, fields, 'Sign in', async (values) => showSession(await call('POST', '/v1/signin', values)));
}

function showKeys({ project }) {
  const list = document.createElement('ul');
  for (const { environment, kind, key } of project.keys)
    list.append(element('li', environment + ' ' + kind + ': ' + key));
  show(element('h2', 'Your keys'), element('p', 'They are shown only this once.'), list);
}

function showSession({ session }) {
  const list = document.createElement('ul');
  for (const { name, role } of session.projects) list.append(element('li', name + ' (' + role + ')'));
  const signOut = element('button', 'Sign out');
  signOut.addEventListener('click', async () => {
    await call('POST', '/v1/signout', {});
    showSignIn();
  });
  const who = session.account ? session.account.email : 'the owner of a project, by a one-time link';
  show(element('h2', 'Signed in'), element('p', 'You are signed in as ' + who + '.'), list, signOut);
}

const purposes = {
  reset: () =>
    showForm('Choose a new password', [newPassword], 'Set password', async ({ password }) => {
      await call('POST', '/v1/password/reset/confirm', { token, password });
      showSignIn('Your password is changed. Sign in');
    }),
  invitation: () =>
    showForm('Accept the invitation', [anyPassword], 'Accept', async ({ password }) =>
      showSession(await call('POST', '/v1/invitations/accept', { token, password }))),
  confirm: () =>
    showForm('Create your account', [], 'Create account', async () =>
      showKeys(await call('POST', '/v1/signup/confirm', { token }))),
  signin: () =>
    showForm('Sign in by the one-time link', [], 'Sign in', async () =>
      showSession(await call('POST', '/v1/signin/link', { token }))),
};

async function start() {
  // The token is not left in the address bar, where others could read it.
  history.replaceState(null, '', location.pathname);
  const use = Object.hasOwn(purposes, purpose) && purposes[purpose];
  if (use) return use();
  try {
    showSession(await call('GET', '/v1/session'));
  } catch {
    showSignIn();
  }
}
start();
`;

export const accountPage: FastifyPluginAsync = async (app) => {
  app.defaultAuthority = 'none';
  protectPages(app);
  const page = (url: string, type: string, content: string) =>
    app.get(url, async (_request, reply) =>
      reply.header('Cache-Control', 'no-cache').type(`${type}; charset=utf-8`).send(content),
    );
  page('/account', 'text/html', html);
  page('/account.js', 'text/javascript', script);
};
