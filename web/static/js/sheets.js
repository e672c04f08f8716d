// What people open: loaded after the board, so that scores and board come first.

export { Add } from "./add.js";
export { Asking, asked } from "./asking.js";
export { Fix } from "./fix.js";
export { Gap } from "./gap.js";
export { History, Left } from "./lists.js";
export { Menu } from "./menu.js";
export { Move } from "./move.js";
export { Picker } from "./picker.js";
export { Proof } from "./proof.js";
export { Question } from "./question.js";
export { Then } from "./then.js";
