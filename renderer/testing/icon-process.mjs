// A process as the pool for icons starts one, which does what a file says instead of decoding it.
process.on('disconnect', () => process.exit(0));
process.once('message', () => {
  process.on('message', ({ id, file }) => {
    const asked = new TextDecoder().decode(file);
    if (asked.startsWith('hang')) for (;;);
    if (asked.startsWith('crash')) process.kill(process.pid, 'SIGKILL');
    const icon = { kind: 'svg', png: Buffer.from(`${process.pid}`), width: 1, height: 1 };
    process.send({ kind: 'done', id, result: { ok: true, value: icon }, processorMs: 1 });
  });
  process.send({ kind: 'ready' });
});
