// Camera mount of the bastide rig: holds a Raspberry Pi camera under a tube or an arm, lens down, and lets it tilt.
//   openscad -D 'part="holder"' -o holder.stl mount.scad      and the same with clamp, tripod, knob
// All lengths in millimetres. Print in PETG or PLA, 0.2 mm layers, 3 walls; only the holder needs supports, under its plate.

part = "all";           // holder, clamp, tripod (in place of the clamp), knob, all (as mounted, to look at)
camera = "module3";     // module1, module2, module3 (also Wide), hq
tube = 25;              // outer diameter of the arm the clamp goes around: 12 to 60
play = 0.3;             // between parts that move

/* [screws] */
m2 = 1.8;               // core hole for an M2 screw that cuts its own thread
m5 = 5.3;               // through hole
m5_nut = 8.2;           // across flats
m5_nut_height = 4.2;

/* [strength] */
wall = 4;
ear = 6;                // thickness of the clamp's ear; the holder's two ears take it between them

$fn = 64;

// Board width and height, distance of the screw holes, and where the upper pair is from the board's upper edge.
// Raspberry Pi's mechanical drawings: modules 1 to 3 are 25 x 23.9 with holes 21 x 12.5, the HQ camera 38 x 38 with 30 x 30.
function board(c) = c == "hq" ? [38, 38, 30, 30, 4] : [25, 23.9, 21, 12.5, 2];
standoff = camera == "hq" ? 4 : 5;     // room for the connector behind the board
b = board(camera);
assert(camera == "hq" || camera == "module1" || camera == "module2" || camera == "module3", "no such camera");
assert(tube >= 12 && tube <= 60, "a tube of 12 to 60 mm");

plate = [b[0] + 9, b[1] + 9, 3];
hinge_radius = 9;
hinge_height = 17;      // from the plate to the bolt

module nut(height) { cylinder(d = m5_nut / cos(30), h = height, $fn = 6); }

module rounded(size, radius) {
  linear_extrude(size[2]) offset(radius) offset(-radius) square([size[0], size[1]], center = true);
}

// One ear of the hinge, standing on z = 0 with its bolt along x, `thick` wide in x.
module hinge_ear(thick, height) {
  rotate([90, 0, 90]) linear_extrude(thick, center = true) hull() {
    translate([0, height]) circle(hinge_radius);
    translate([-hinge_radius, 0]) square([2 * hinge_radius, 0.1]);
  }
}

// The plate the camera hangs under: ears up, standoffs down, the ribbon cable leaves at -y.
module holder() {
  gap = ear + 2 * play;
  difference() {
    union() {
      rounded(plate, 3);
      for (side = [-1, 1]) translate([side * (gap / 2 + wall / 2), 0, plate[2]]) hinge_ear(wall, hinge_height);
      for (x = [-1, 1], y = [0, 1])
        translate([x * b[2] / 2, b[1] / 2 - b[4] - y * b[3], -standoff]) cylinder(d = 5, h = standoff + 0.1);
    }
    for (x = [-1, 1], y = [0, 1])
      translate([x * b[2] / 2, b[1] / 2 - b[4] - y * b[3], -standoff - 0.1]) cylinder(d = m2, h = standoff + 2);
    translate([0, 0, plate[2] + hinge_height]) rotate([0, 90, 0]) cylinder(d = m5, h = 100, center = true);
    // the bolt's nut sits in the outside of one ear
    translate([gap / 2 + wall - 2, 0, plate[2] + hinge_height]) rotate([0, 90, 0]) rotate(30) nut(10);
    // a notch that keeps the ribbon cable from bending sharply over the edge
    translate([0, -plate[1] / 2, plate[2] / 2]) rotate([0, 90, 0]) cylinder(d = 5, h = 18, center = true);
    // ties for the cable
    for (x = [-1, 1]) translate([x * 12, -plate[1] / 2 + 4, -1]) cylinder(d = 3, h = 10);
  }
}

// A ring around the tube, open on one side and drawn together by an M5 bolt, with the ear below. Tube along y.
module clamp() {
  outer = tube + 2 * wall;
  length = 20;
  lug = 12;
  difference() {
    union() {
      rotate([90, 0, 0]) cylinder(d = outer, h = length, center = true);
      translate([0, 0, -tube / 2 - wall - hinge_height + 2]) mirror([0, 0, 1]) translate([0, 0, -hinge_height - 0.1])
        intersection() { hinge_ear(ear, hinge_height + 0.1); cube([ear + 1, length, 100], center = true); }
      translate([0, 0, outer / 2 + lug / 2 - wall / 2 - 1]) cube([2 * wall + 3, length, lug + wall + 2], center = true);
    }
    rotate([90, 0, 0]) cylinder(d = tube + play, h = length + 1, center = true);
    translate([0, 0, tube / 2 + 10]) cube([3, length + 1, 40], center = true);
    translate([0, 0, outer / 2 + lug / 2]) rotate([0, 90, 0]) cylinder(d = m5, h = 60, center = true);
    translate([wall + 1.5 - 2, 0, outer / 2 + lug / 2]) rotate([0, 90, 0]) rotate(30) nut(10);
    translate([0, 0, -tube / 2 - wall - hinge_height + 2]) rotate([0, 90, 0]) cylinder(d = m5, h = 60, center = true);
  }
}

// In place of the clamp: a foot for the 1/4 inch screw of a tripod head or a microphone arm.
module tripod() {
  foot = [34, 34, 9];
  difference() {
    union() { rounded(foot, 4); translate([0, 0, foot[2]]) hinge_ear(ear, hinge_height); }
    translate([0, 0, foot[2] + hinge_height]) rotate([0, 90, 0]) cylinder(d = m5, h = 60, center = true);
    for (x = [-1, 1]) translate([x * 10, 0, -1]) {       // two places, beside the ear
      cylinder(d = 6.6, h = 20);                         // 1/4 inch with play
      translate([0, 0, 1 + foot[2] - 5.6]) cylinder(d = 11.3 / cos(30), h = 10, $fn = 6);  // its nut, 7/16 inch
    }
  }
}

// A head for the hinge's bolt that fingers can turn.
module knob() {
  difference() {
    union() {
      cylinder(d = 22, h = 8);
      for (a = [0 : 45 : 315]) rotate(a) translate([11, 0, 0]) cylinder(d = 5, h = 8);
    }
    translate([0, 0, -1]) cylinder(d = m5, h = 20);
    translate([0, 0, 8 - m5_nut_height]) nut(10);
  }
}

// How the camera looks, for the picture of the whole.
module camera_dummy() {
  translate([0, 0, -standoff - 1]) color("green") linear_extrude(1) square([b[0], b[1]], center = true);
  translate([0, 0, -standoff - 1 - 6]) color("black") linear_extrude(6) square([8.5, 8.5], center = true);
}

if (part == "holder") holder();
else if (part == "clamp") clamp();
else if (part == "tripod") tripod();
else if (part == "knob") knob();
else if (part == "all") {
  tilt = 10;
  bolt = plate[2] + hinge_height;
  rotate([tilt, 0, 0]) translate([0, 0, -bolt]) { color("orange") holder(); camera_dummy(); }
  translate([0, 0, tube / 2 + wall + hinge_height - 2]) {
    color("steelblue") clamp();
    %rotate([90, 0, 0]) cylinder(d = tube, h = 70, center = true);
  }
  translate([-ear / 2 - wall - 1, 0, 0]) rotate([0, -90, 0]) color("gray") knob();
}
else assert(false, "part must be holder, clamp, tripod, knob or all");
