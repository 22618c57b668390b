// Preloaded into a server (NODE_OPTIONS): shifts its clock, so that nothing in a recorded data folder expires.
const offsetMs = Number(process.env.TEST_CLOCK_OFFSET_MS);
const RealDate = Date;
const realNow = RealDate.now;
RealDate.now = () => realNow() + offsetMs;
globalThis.Date = new Proxy(RealDate, {
  construct: (target, args, newTarget) => Reflect.construct(target, args.length > 0 ? args : [target.now()], newTarget),
});
