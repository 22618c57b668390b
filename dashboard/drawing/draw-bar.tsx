/** The bar over the map while a record is edited: its history, the points of a polygon, and what to do next. */
import { Button } from '../components/controls';
import { canRedo, canUndo, type History } from './history';
import type { Isochrone } from './isochrone';
import type { Tool } from './map-address';
import { crossingsOf, isWithinMap, type Shape } from './shape';

interface Props {
  readonly history: History<unknown>;
  readonly tool: Tool;
  readonly shape: Shape | undefined;
  readonly isochrone: Isochrone;
  readonly isSaving: boolean;
  /** The next click on the map places the record. */
  readonly isPlacing: boolean;
  /** Clicks on the map add points to the polygon. */
  readonly isAdding: boolean;
  onUndo(): void;
  onRedo(): void;
  onAddPoints(): void;
  onFinish(): void;
}

export function DrawBar(props: Props) {
  const { history, tool, shape, isSaving, isAdding, onUndo, onRedo, onAddPoints, onFinish } = props;
  return (
    <fieldset className="draw-bar card" aria-label="Drawing">
      <Button
        look="plain"
        icon="undo"
        aria-label="Undo"
        title="Undo (Ctrl+Z)"
        disabled={isSaving || !canUndo(history)}
        onClick={onUndo}
      />
      <Button
        look="plain"
        icon="redo"
        aria-label="Redo"
        title="Redo (Ctrl+Shift+Z)"
        disabled={isSaving || !canRedo(history)}
        onClick={onRedo}
      />
      {tool === 'polygon' && (
        <Button
          look="plain"
          icon={isAdding ? 'check' : 'plus'}
          disabled={isSaving || (isAdding && pointsOf(shape).length < 3)}
          onClick={isAdding ? onFinish : onAddPoints}
        >
          {isAdding ? 'Finish' : 'Add points'}
        </Button>
      )}
      <p className="draw-hint quiet small" role="status">
        {hintOf(props)}
      </p>
    </fieldset>
  );
}

const pointsOf = (shape: Shape | undefined) => (shape?.type === 'polygon' ? shape.points : []);

function hintOf({ tool, shape, isPlacing, isAdding, isochrone }: Props): string {
  const points = pointsOf(shape);
  const crossings = crossingsOf(points).length;
  if (crossings > 0) return `The outline crosses itself at ${crossings === 1 ? 'one place' : `${crossings} places`}.`;
  if (isPlacing) {
    if (tool === 'circle') return 'Click the centre, or pull from the centre outwards.';
    return tool === 'beacon' ? 'Click where the beacon is.' : 'Click the destination.';
  }
  if (isAdding && points.length === 0) return 'Click the first point.';
  if (isAdding && points.length < 3) return 'Click the next point.';
  if (isAdding) return 'Click further points. Click the first one to finish.';
  if (shape && !isWithinMap(shape)) return 'It crosses the antimeridian or reaches a pole. Edit it in the form.';
  if (tool === 'polygon') return 'Pull points to move them. Right-click a point to remove it.';
  if (tool === 'circle') return 'Pull the centre or the handle.';
  if (tool === 'isochrone' && isochrone.isLoading) return 'Computing the area.';
  return 'Pull the point to move it.';
}
