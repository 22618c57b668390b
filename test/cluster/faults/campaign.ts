/**
 * Size of the fault tests. By default each kind of fault happens once or twice, at moments that a fixed seed chooses. A
 * campaign (`npm run test:faults`) takes longer, with more faults and random seeds.
 */
const isCampaign = process.env.TEST_CAMPAIGN !== undefined;

/** Returns the value for a campaign or the usual one. */
export const inCampaign = <T>(campaign: T, usual: T): T => (isCampaign ? campaign : usual);
