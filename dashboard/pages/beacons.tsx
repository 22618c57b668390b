/** The list of beacons. */
import type { Beacon } from '../../client/types';
import { ResourcePage } from '../components/resource-page';

/** Begins with what tells beacons of one owner apart: the end may be cut. */
const signalOf = ({ type, uuid, major, minor, uid, instance }: Beacon): string =>
  type === 'ibeacon' ? `${major}/${minor} ${uuid}` : `${instance} ${uid}`;

const signal = {
  title: 'Signal',
  className: 'secondary clip truncate',
  cell: (beacon: Beacon) => <code title={signalOf(beacon)}>{signalOf(beacon)}</code>,
};

export default function Beacons() {
  return (
    <ResourcePage
      resource="beacons"
      title="Beacons"
      intro="Radio beacons that make events when devices come near and go away."
      definition="A beacon is an iBeacon or an Eddystone, at a place that you know."
      column={signal}
    />
  );
}
