// Made of the server's types (web/described.py): python -m web.described regenerates it.

/** The number of the camera's newest picture, and its measurements. */
export type AimState = {
  look: number;
  aim: Record<string, any> | null;
};

/** A set of tile pictures that a new game may choose. */
export type ArtSet = {
  name: string;
  kind: string;
  pictures: number;
  kinds: number;
  usual: boolean;
};

/** State of backups: ``upload`` bytes received, of at most ``most``; ``file`` is the one made, with its secret URL. */
export type BackupState = {
  busy: string | null;
  game_runs: boolean;
  most: number;
  upload: number;
  checked: CheckedBackup | null;
  file: MadeBackup | null;
  error: ErrorRow | null;
};

/** The board. The expansions in play add their own state, each under its own key; ``drawn`` are drawings of their pieces, ``held`` the components held by each player. */
export type BoardView = {
  tiles: TileView[];
  figures: FigureView[];
  drawn?: Shape[];
  held?: Held[][];
};

/** A camera with the result of its preview; ``typed``: its address was entered by hand, ``picture`` is a secret name. */
export type CameraRow = {
  id: string;
  address: string;
  kind: string;
  name: string;
  used: boolean;
  typed: boolean;
  picture: string | null;
  size: number[] | null;
  state: string;
  checks: LineRow[];
};

/** Every camera with its preview; whether one is chosen, and whether the command line sets it. */
export type CamerasState = {
  cameras: CameraRow[];
  chosen: boolean;
  fixed: boolean;
  restarting?: boolean;
};

/** One of the answers to a question: the move that it would be (null: nothing), and how likely it is. */
export type CandidateView = {
  body: Record<string, any> | null;
  probability: number;
};

/** Each player's points of one category over the whole game. */
export type CategoryView = {
  category: string;
  points: number[];
};

/** The tile in a cell: its kind, the quarter turns that its picture needs, the source of that label, the number of its picture, and why it is doubted. */
export type CellRow = {
  cell: string;
  tile: string;
  turns: number;
  sure: boolean;
  picture: number;
  coarse: boolean;
  doubt: string | null;
};

/** The contents of an uploaded backup. */
export type CheckedBackup = {
  games: number;
  entries: number;
  made_s: number;
};

/** A chess clock: what each player has left, and whose runs. */
export type ClockView = {
  left_s: number[];
  running: number | null;
};

/** A correction: the entry ``of`` which it changes, and its content before and after. */
export type CorrectionRow = {
  seq: number;
  at_s: number;
  who: string;
  do?: "amend" | "undo" | "retract" | "insert" | "settle";
  of?: number;
  code?: string;
  before?: Record<string, any> | null;
  after?: Record<string, any> | null;
};

/** An error: ``code`` is for programs, ``text`` a sentence for people, ``parts`` its placeholders' values. */
export type ErrorRow = {
  code: string;
  text: string;
  parts?: Record<string, any>;
};

/** A feature that can be claimed: its owners, and its value now and when complete. */
export type FeatureView = {
  id: string;
  kind: string;
  places: [number, number, string][];
  tiles: number;
  open: number;
  complete: boolean;
  pennants: number;
  owners: number[];
  weights: [number, number][];
  points_now: number;
  points_complete: number;
  cities?: number;
};

/** A piece that may stand on the board; ``company``: only together with a follower of its player. */
export type Figure = {
  path?: string;
  scale?: number;
  upright?: boolean;
  company: boolean;
};

/** A figure on the board, ``spot`` in hundredths of its tile's side; an ``apart`` one is drawn by its expansion. */
export type FigureView = {
  player: number;
  figure: string;
  at: number[];
  feature: string;
  where: string;
  spot: number[];
  lying: boolean;
  apart: boolean;
  seq?: number | null;
};

/** The final scoring; ``tie`` tells how a tie of the winners is resolved. */
export type FinalView = {
  stages: StageView[];
  table: CategoryView[];
  totals: number[];
  winners: number[];
  tie: string | null;
};

/** A stored game; ``winners`` are player indices. */
export type GameRow = {
  game: number;
  created_s: number;
  players: string[];
  entries: number;
  over: boolean;
  shown: boolean;
  scores?: number[];
  winners?: number[];
};

/** An open square: the number of kinds, and of tiles, that fit there. */
export type GapRow = {
  at: number[];
  kinds: number;
  fit: number;
};

/** Every open square; ``total`` tiles remain. */
export type GapsView = {
  total: number;
  gaps: GapRow[];
};

/** The camera's view at the start of the game (``reference``, of that ``size``) compared with the newest ``picture``: how far to push and turn it back, None if unknown. */
export type GhostState = {
  camera: boolean;
  picture: number | null;
  reference: number | null;
  size: number[] | null;
  moved: Record<string, any> | null;
};

/** The current step, whether the guide is finished, and the practice road. */
export type GuideState = {
  step: string;
  finished: boolean;
  steps: GuideStep[];
  practice: Practice;
};

/** A step of the guide. */
export type GuideStep = {
  name: string;
  state: string;
  answer: string | null;
};

/** An event of the history: its log entry, and the fields of the move, whose ``do`` is the ``kind``. */
export type HappenedView = {
  seq: number;
  turn: number;
  kind: string;
  notation: string;
  source: string;
  confidence: number;
  asked: boolean;
  amended: boolean;
  player?: number;
  at?: number[];
  tile?: string;
  rot?: number;
  figure?: string;
  feature?: string;
  where?: string;
};

/** Components held by a player, shown beside the name: the ``key`` of the text, the number, and the name of an icon, or ``figures`` as (owner, figure). */
export type Held = {
  key: string;
  n: number;
  icon?: string;
  figures?: [number, string][];
};

/** A breach of the rules, or something that people are asked to correct on the table. */
export type IssueView = {
  code: string;
  text: string;
  squares: number[][];
  turn: number | null;
  parts?: Record<string, any>;
  before?: string;
  now?: string;
};

/** A term of a sum; with a player, it counts for that player only. */
export type ItemView = {
  what: string;
  count: number;
  each: number;
  points: number;
  player?: number;
};

/** A kind of tile that fits on a square: the number left, and the rotations (quarter turns) at which it fits. */
export type KindThere = {
  tile: string;
  left: number;
  rots: number[];
};

/** The kinds that may be placed on a square: ``fit`` of the ``total`` remaining tiles. */
export type KindsView = {
  at: number[];
  total: number;
  fit: number;
  kinds: KindThere[];
};

/** The colours of a kind of segment: border, fill, and a dashed line along a band's centre or an area's edge. */
export type Land = {
  rim: string;
  fill: string;
  line: string;
};

/** A tile to lay; ``follower`` is the segment where one stands on it. */
export type LayRow = {
  tile: string;
  at: number[];
  rot: number;
  follower?: string;
};

/** The tiles that are still in the box, by kind. */
export type LeftView = {
  total: number;
  kinds: Record<string, number>;
};

/** The lens as it is being calibrated, in pixels of the camera's own ``picture`` of that ``size``, and every earlier calibration. */
export type LensState = {
  camera: boolean;
  picture: number | null;
  size: number[];
  board: number[][] | null;
  views: Record<string, any>[];
  coverage: number[][];
  enough: number;
  least: number;
  good_px: number;
  busy: boolean;
  lens: Record<string, any> | null;
  error: ErrorRow | null;
  saved: boolean;
  history: Record<string, any>[];
  chosen: string;
  cameras: Record<string, any>[];
  upload: number;
  most: number;
};

/** One check of the machine: ``text`` is what was found, ``do`` what to do about it; ``code`` and ``todo`` name these sentences, ``parts`` are their placeholders' values. */
export type LineRow = {
  what: string;
  state: string;
  text: string;
  do: string;
  code: string;
  todo: string;
  parts: Record<string, string | number | number>;
};

/** A file that was made, with its secret URL; one for support has no games. */
export type MadeBackup = {
  address: string;
  bytes: number;
  games?: number;
  entries?: number;
  made_s?: number;
};

/** A possible move. */
export type MoveView = {
  code: string;
  do: string;
  when: string;
  player: number;
  must: boolean;
  question: string | null;
  answers: Record<string, any>[];
};

/** The moves possible now. */
export type MovesNow = {
  next_tile: NextTileView;
  moves: MoveView[];
  version: number;
};

/** Who places the next tile. */
export type NextTileView = {
  player: number;
  part: number;
  waiting: boolean;
};

/** An objection of the rules to a tile on its square. */
export type Objection = {
  code: string;
  text: string;
};

/** The objections of the rules to a tile at one rotation; empty if it fits. */
export type ObjectionsThere = {
  rot: number;
  objections: Objection[];
};

/** The objections of the rules to a kind of tile on a square. */
export type ObjectionsView = {
  tile: string;
  at: number[];
  turns: ObjectionsThere[];
};

/** An uploaded release that may be installed. */
export type OfferRow = {
  version: string;
  bytes: number;
  changes: string;
};

/** A question about an event that the table does not show, with the possible answers as events. ``nothing``: that nothing happened is an answer too. ``seen``: the camera saw what may have led to it, and tells the answer if it sees it; people may. */
export type OpenQuestionView = {
  id: string;
  code: string;
  text: string;
  player: number;
  turn: number;
  at: number[] | null;
  must: boolean;
  nothing: boolean;
  seen: boolean;
  before: boolean;
  answers: Record<string, any>[];
};

/** The number of pictures of the owner's tiles, by kind, and a tag that changes with them. */
export type OwnPictures = {
  tiles: Record<string, number>;
  tag: string;
};

/** A page of the teaching sheet (from 1), and in how many of its cells a tile was seen. */
export type PageRow = {
  page: number;
  product: string;
  cells: number;
  seen: number;
};

/** A view of an earlier moment (`scoring.views.MomentView`) with the table's current additions. */
export type PastView = View & {
  moves: MoveView[];
  after: number;
};

/** A clause of an explanation: the ``key`` of its text, and the placeholder values. */
export type PhraseView = {
  key: string;
  tiles?: number;
  cities?: number;
  of?: string;
  players?: number[];
  weights?: number[][];
  formula?: string;
  count?: number;
  what?: string;
  each?: number;
  points?: number;
  rule?: string;
};

/** The squares where a kind of tile may be placed, and the number of tiles left of it. */
export type PlacesView = {
  tile: string;
  left: number;
  places: TurnsOnSquare[];
};

/** A player; ``projected`` is the score if the game ended now, ``supply`` the pieces in supply by name. */
export type PlayerView = {
  index: number;
  name: string;
  colour: string;
  score: number;
  projected: number;
  supply: Record<string, number>;
  active: boolean;
  uncertain: boolean;
};

/** Points for one player. */
export type PointsView = {
  player: number;
  points: number;
};

/** The practice road: the tiles to lay, and which of them were seen. */
export type Practice = {
  plan: LayRow[];
  seen: SeenRow;
};

/** The effect of a command, or why it would be refused. */
export type PreviewRow = {
  scores?: ScoreChange[];
  issues?: string[];
  error?: string;
};

/** A question to people about a doubtful reading, or about what the camera cannot have seen. */
export type QuestionView = {
  id: number | string;
  seq: number;
  kind: "tile" | "figure" | "move";
  text_key: string;
  at: number[] | null;
  player: number | null;
  crop: string | null;
  candidates: CandidateView[];
};

/** Progress of presenting the final scoring. */
export type RevealView = {
  step: number;
  told: boolean;
  lead: string;
  by: string;
  steps?: number;
  stage?: string | null;
  event?: ScoreView | null;
};

/** A tournament's round, while one is played. */
export type RoundView = {
  id: string;
  number: number;
  locked: boolean;
  confirmed: boolean[];
  clock?: ClockView;
};

/** A player's score before and after. */
export type ScoreChange = {
  player: number;
  before: number;
  after: number;
};

/** A score event with all its details; ``player`` is the active player, ``because`` the explanation as phrases. */
export type ScoreView = {
  turn: number | null;
  player: number | null;
  feature: string;
  reason: string;
  points: PointsView[];
  items: ItemView[];
  formula: string;
  majority: ShareView[];
  places: [number, number, string][];
  cities: [number, number, string][][];
  tiles: number;
  rule: string;
  because: PhraseView[];
};

/** The stages of the chain that have worked. */
export type SeenRow = {
  tile: boolean;
  follower: boolean;
  road: boolean;
};

/** The reading of the camera's picture with that number, in its pixels. */
export type SeenState = {
  camera: boolean;
  watching: boolean;
  picture: number | null;
  size?: number[];
  tiles?: Record<string, any>[];
  open?: Record<string, any>[];
  readings?: Record<string, any>[];
  figures?: Record<string, any>[];
  moving?: number[][][];
};

/** Every option, the names of those that wait for a restart, and why settings were not taken. */
export type SettingsState = {
  options: Record<string, any>[];
  waiting: string[];
  note: string | null;
  restarting: boolean;
  port?: number;
};

/** The drawing of a component other than tiles and figures: an SVG element, 100 units per square, with attributes (``look``) and children (``inside``). ``says`` is a text: its ``key`` and placeholder values; a ``text`` element shows it, others have it as their title. ``player`` adds that player's follower, in a 32 x 32 view box. */
export type Shape = {
  tag: string;
  look?: Record<string, string | number>;
  says?: Record<string, string | number>;
  inside?: Shape[];
  player?: number;
};

/** A player's weight in a majority. */
export type ShareView = {
  player: number;
  weight: number;
};

/** A sign of a segment or a tile: ``parts`` from back to front, on a round background. One drawn ``like`` a kind of segment takes that drawing, scaled by ``scale`` and with its corner ``at`` a point of the tile. ``room`` is the clearance to trees and houses; no village is drawn beside a ``ground`` sign. */
export type Sign = {
  parts?: Stroke[];
  like?: string;
  at?: number[];
  scale?: number;
  room?: number;
  ground?: boolean;
};

/** A stage of the final scoring. */
export type StageView = {
  name: string;
  events: ScoreView[];
};

/** The camera's status: a short word, a sentence, and optionally a code with its values. */
export type StatusView = {
  chip: string;
  text: string;
  code?: string;
  parts?: Record<string, any>;
};

/** One shape of a sign: an SVG path ``d``, its fill and stroke colours, and the stroke width. */
export type Stroke = {
  d: string;
  fill: string;
  stroke?: string;
  width?: number;
};

/** Kinds that were taught, that are missing, whose pictures are coarse, and that were rejected. */
export type TaughtRow = {
  taught: string[];
  missing: string[];
  coarse: string[];
  refused: string[];
};

/** The tiles on the teaching sheet and their labels, by cell; the kinds that are ``wanted``, the number of ``known`` pictures of each, the ``fewest`` needed for teaching, and the outcome of storing them. */
export type TeachingState = {
  camera: boolean;
  picture: number | null;
  pages: PageRow[];
  tiles: CellRow[];
  wanted: string[];
  known: Record<string, number>;
  fewest: number;
  outcome: TaughtRow | null;
};

/** A candidate reading of an entry's tile; for a figure's entry, the move as it was read. */
export type TileCandidate = {
  probability: number;
  tile?: string;
  rot?: number;
  legal?: boolean;
  body?: Record<string, any>;
};

/** A tile on the board; a start tile has no entry, turn and player. */
export type TileView = {
  at: number[];
  tile: string;
  rot: number;
  seq: number | null;
  turn: number | null;
  player: number | null;
  asked: boolean;
  last: boolean;
};

/** The running calibration, the results by kind, and the calibrations in use. */
export type TuningState = {
  camera: boolean;
  running: string | null;
  done: Record<string, any>;
  used: Record<string, any>[];
  cameras: Record<string, any>[];
  methods: string[];
  limits: Record<string, any>;
  trial: Record<string, any>;
};

/** A turn that was played, and whether there is a picture of it. */
export type TurnRow = {
  turn: number;
  player: number;
  tile: string | null;
  at: number[] | null;
  picture: boolean;
};

/** The current turn part; ``part`` 2 is the second tile of a double turn. */
export type TurnView = {
  number: number;
  player: number;
  part: number;
  open: boolean;
};

/** A square where a tile fits, with the rotations (quarter turns) at which it fits. */
export type TurnsOnSquare = {
  at: number[];
  rots: number[];
};

/** The running version, the uploaded one, the offer, and the state of the newest update (docs/updates.md). */
export type UpdateState = {
  possible: boolean;
  version: string;
  before: string | null;
  game_runs: boolean;
  most: number;
  upload: number;
  busy: boolean;
  offer: OfferRow | null;
  last: Record<string, any> | null;
};

/** The newest view of a table. */
export type View = {
  version: number;
  edition: string;
  expansions: string[];
  phase: "playing" | "over";
  turn: TurnView;
  next_tile: NextTileView;
  players: PlayerView[];
  left: LeftView;
  board: BoardView;
  features: FeatureView[];
  feed: ScoreView[];
  final: FinalView | null;
  projected_final: FinalView;
  issues: IssueView[];
  open_questions: OpenQuestionView[];
  history: HappenedView[];
  game: number;
  update: number;
  questions: QuestionView[];
  doubts: QuestionView[];
  aid: string;
  art: string;
  reveal: RevealView | null;
  rules: Record<string, any>;
  edition_title: string;
  status: StatusView;
  round?: RoundView;
};
