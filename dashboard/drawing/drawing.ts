/** What pointer and keys draw of a draft: the first point, the points of a polygon, and its end. */
import { useState } from 'react';
import type { MapView } from '../components/map-view';
import type { DraftHistory } from './draft-history';
import type { Editor } from './editor';
import type { Tool } from './map-address';
import { distanceM, fieldsOf, niceRadiusM, type Position, roundedPosition, type Shape } from './shape';

/** The metres that fill a part of the map's height, for a first radius. */
function radiusInView({ map }: MapView): number {
  const { height } = map.getContainer().getBoundingClientRect();
  const [centre, edge] = [map.unproject([0, height / 2]), map.unproject([0, height / 2 - height / 8])];
  return niceRadiusM(distanceM([centre.lng, centre.lat], [edge.lng, edge.lat]));
}

interface DrawingOf<Draft> {
  readonly drafts: DraftHistory<Draft>;
  readonly view: MapView;
  readonly editor: Editor;
  readonly tool: Tool;
  /** The record is new. */
  readonly isNew: boolean;
  readonly isEditable: boolean;
  shapeOf(draft: Draft): Shape | undefined;
}

/** How the shape of a draft is drawn on the map. */
export interface Drawing {
  /** The next click places the record. */
  readonly isPlacing: boolean;
  /** Clicks add points to the polygon. */
  readonly isAdding: boolean;
  put(type: 'preview' | 'step', next: Shape): void;
  addPoints(): void;
  /** @returns whether the position was used. */
  placeAt(at: Position): boolean;
  isLastPoint(at: Position): boolean;
  removeLastPoint(): void;
  /** Ends the adding of points. @returns false where the polygon has too few. */
  finish(): boolean;
}

/** Draws the shape of a draft by clicks on the map. */
export function useDrawing<Draft>({
  drafts,
  view,
  editor,
  tool,
  isNew,
  isEditable,
  shapeOf,
}: DrawingOf<Draft>): Drawing {
  const [wasAsked, setAsked] = useState(isNew && tool === 'polygon');
  const isAdding = isEditable && wasAsked && tool === 'polygon';
  const isPlacing = isEditable && tool !== 'polygon' && shapeOf(drafts.history.present) === undefined;
  const put = (type: 'preview' | 'step', next: Shape) =>
    drafts.act({ type, state: { ...drafts.latest(), ...fieldsOf(next) } as Draft });
  function points(): readonly Position[] {
    const shape = shapeOf(drafts.latest());
    return shape?.type === 'polygon' ? shape.points : [];
  }
  return {
    isPlacing,
    isAdding,
    put,
    addPoints: () => setAsked(true),
    placeAt(at) {
      const centre = roundedPosition(at);
      if (isAdding) put('step', { type: 'polygon', points: [...points(), centre] });
      else if (!isPlacing) return false;
      else if (tool === 'circle') put('step', { type: 'circle', centre, radiusM: radiusInView(view) });
      else put('step', { type: 'point', centre });
      return true;
    },
    isLastPoint(at) {
      const last = points().at(-1);
      return last !== undefined && distanceM(last, at) < 0.5;
    },
    removeLastPoint() {
      if (points().length > 0) put('step', { type: 'polygon', points: points().slice(0, -1) });
    },
    finish() {
      if (!isAdding || points().length < 3) return false;
      setAsked(false);
      editor.point(undefined);
      return true;
    },
  };
}
