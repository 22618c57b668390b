/** The page of one geofence, new or existing. */
import { geofenceKind } from '../forms/geofence-fields';
import { RecordPage } from '../forms/record-form';

export default function GeofenceView() {
  return <RecordPage kind={geofenceKind} />;
}
