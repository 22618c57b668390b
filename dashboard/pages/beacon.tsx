/** The page of one beacon, new or existing. */
import { beaconKind } from '../forms/beacon-fields';
import { RecordPage } from '../forms/record-form';

export default function BeaconView() {
  return <RecordPage kind={beaconKind} />;
}
