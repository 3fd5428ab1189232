//! Documents nobody would write: case files with faults in them, and keywords thrown together. The same seed makes the same
//! document.

use std::{fs, path::Path};

/// Words that mean something somewhere.
const WORDS: &[&str] = &[
    "script",
    "stage",
    "stages",
    "include",
    "extends",
    "rules",
    "if",
    "changes",
    "exists",
    "when",
    "needs",
    "job",
    "parallel",
    "matrix",
    "trigger",
    "variables",
    "environment",
    "name",
    "url",
    "on_stop",
    "action",
    "cache",
    "key",
    "files",
    "paths",
    "prefix",
    "artifacts",
    "reports",
    "junit",
    "expire_in",
    "retry",
    "max",
    "default",
    "inherit",
    "workflow",
    "only",
    "except",
    "refs",
    "allow_failure",
    "exit_codes",
    "image",
    "services",
    "before_script",
    "after_script",
    "timeout",
    "start_in",
    "resource_group",
    "release",
    "tag_name",
    "description",
    "local",
    "template",
    "project",
    "file",
    "remote",
    "artifact",
    "strategy",
    "forward",
    "branch",
    "dependencies",
    "tags",
    "coverage",
    "interruptible",
    "pages",
    "policy",
    "untracked",
    "value",
    "options",
    "expand",
    "compare_to",
    "optional",
    "pipeline",
    "a",
    "b",
    ".hidden",
    "build",
    "test",
    ".pre",
    ".post",
    "<<",
    "=",
];

/// Values that are read in odd ways, or that others expand.
const VALUES: &[&str] = &[
    "~",
    "",
    "true",
    "no",
    "0",
    "-1",
    "3",
    "99999999999999999999999999999999999999999",
    "0x1F",
    "0755",
    "1_000",
    "1.5",
    ".inf",
    "1:30",
    "2022-12-24",
    "2022-12-24 10:00:00",
    ":sym",
    "'text'",
    "\"q\\u0041\"",
    "manual",
    "delayed",
    "never",
    "always",
    "1 day",
    "3 hours 4 min",
    "$A",
    "${A}",
    "%A%",
    "$$A",
    "'$A == \"x\" && $B =~ /^a+$/i'",
    "'$A =~ /((a+)+)+$/'",
    "'(($A || $B) && !$C)'",
    "'/x/'",
    "'**/*.{rs,{a,b}}'",
    "'[a-'",
    "'{{{{'",
    "a.yml",
    "'*.yml'",
    "https://x.test/a.yml",
    "&x [1, 2]",
    "*x",
    "!reference [a, script]",
    "!reference [.hidden, script]",
    "!x y",
    "!!binary aGk=",
    "|\n    text\n",
    ">-\n    folded\n",
    "{script: x}",
    "[a, [b, [c]]]",
    "{<<: *x}",
    "'\u{e9}\u{2028}\u{1f600}'",
    "\"\\0\"",
    "'<b>'",
];

/// Of the faults of a document the one after which it is most likely YAML still.
const REPLACED_VALUE: usize = 6;

/// Numbers from a seed.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15))
    }

    /// A number below `end`, which is not zero.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        let end = u64::try_from(end.max(1)).unwrap_or(1);
        usize::try_from((mixed ^ (mixed >> 31)) % end).unwrap_or(0)
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len())]
    }
}

/// What documents are made from.
pub(crate) struct Generator {
    cases: Vec<String>,
}

impl Generator {
    /// With the texts of a folder.
    pub(crate) fn of(folder: &Path) -> std::io::Result<Self> {
        let mut paths = Vec::new();
        for entry in fs::read_dir(folder)? {
            paths.push(entry?.path());
        }
        paths.retain(|path| path.extension().is_some_and(|end| end == "yml"));
        paths.sort();
        let cases = paths.iter().map(fs::read_to_string).collect::<Result<_, _>>()?;
        Ok(Self { cases })
    }

    pub(crate) fn document(&self, seed: u64) -> String {
        let mut dice = Dice::new(seed);
        match dice.below(8) {
            0 => random_document(&mut dice),
            1 => noise(&mut dice),
            _ => self.damaged(&mut dice),
        }
    }

    /// A case, or parts of two, with some faults. Of some only values are others, so that more of them are YAML still.
    fn damaged(&self, dice: &mut Dice) -> String {
        let mut signs: Vec<char> = self.cases[dice.below(self.cases.len())].chars().collect();
        let is_gentle = dice.below(2) == 0;
        for _ in 0..=dice.below(5) {
            let (at, to) = span(dice, signs.len());
            let fault = if is_gentle { REPLACED_VALUE } else { dice.below(8) };
            match fault {
                0 => drop(signs.drain(at..to)),
                1 => {
                    let copy = signs[at..to].to_vec();
                    drop(signs.splice(at..at, copy));
                }
                2 => drop(signs.splice(at..to, dice.pick(VALUES).chars())),
                3 => drop(signs.splice(at..at, dice.pick(WORDS).chars())),
                4 => drop(signs.splice(at..at, noise(dice).chars().take(3))),
                5 => signs.truncate(at),
                REPLACED_VALUE => replace_value(dice, &mut signs),
                _ => {
                    let other: Vec<char> =
                        self.cases[dice.below(self.cases.len())].chars().collect();
                    let (from, end) = span(dice, other.len());
                    drop(signs.splice(at..at, other[from..end].iter().copied()));
                }
            }
        }
        signs.into_iter().collect()
    }
}

/// A place, and one not far behind it.
fn span(dice: &mut Dice, length: usize) -> (usize, usize) {
    let at = dice.below(length + 1);
    let most = (length - at).min(40);
    (at, at + dice.below(most + 1))
}

/// Another value behind one of the colons.
fn replace_value(dice: &mut Dice, signs: &mut Vec<char>) {
    let colons: Vec<usize> = (0..signs.len()).filter(|at| signs[*at] == ':').collect();
    if colons.is_empty() {
        return;
    }
    let from = colons[dice.below(colons.len())] + 1;
    let to = (from..signs.len()).find(|at| signs[*at] == '\n').unwrap_or(signs.len());
    let value: Vec<char> = format!(" {}", dice.pick(VALUES)).chars().collect();
    drop(signs.splice(from..to, value));
}

fn random_document(dice: &mut Dice) -> String {
    let mut text = String::new();
    for _ in 0..=dice.below(6) {
        mapping_entry(dice, &mut text, 0);
    }
    text
}

fn mapping_entry(dice: &mut Dice, text: &mut String, depth: usize) {
    let indent = "  ".repeat(depth);
    let key = if dice.below(20) == 0 { dice.pick(VALUES) } else { dice.pick(WORDS) };
    text.push_str(&format!("{indent}{key}:"));
    match dice.below(if depth > 5 { 2 } else { 5 }) {
        0 | 1 => text.push_str(&format!(" {}\n", dice.pick(VALUES))),
        2 => {
            text.push('\n');
            for _ in 0..=dice.below(4) {
                text.push_str(&format!("{indent}  - {}\n", dice.pick(VALUES)));
            }
        }
        3 => {
            text.push('\n');
            for _ in 0..=dice.below(3) {
                text.push_str(&format!("{indent}  -\n"));
                mapping_entry(dice, text, depth + 2);
            }
        }
        _ => {
            text.push('\n');
            for _ in 0..=dice.below(4) {
                mapping_entry(dice, text, depth + 1);
            }
        }
    }
}

/// Signs that YAML gives a meaning.
fn noise(dice: &mut Dice) -> String {
    const SIGNS: &[&str] = &[
        " ", "  ", "\n", "\n  ", ":", ": ", "- ", "-", "?", "? ", "{", "}", "[", "]", ",", "&",
        "*", "!", "|", ">", "'", "\"", "%", "@", "`", "#", " #", "a", "1", "---", "...", "\t",
        "\r", "\u{0}", "\u{feff}", "\u{85}", "é", "<<", "~",
    ];
    (0..=dice.below(60)).map(|_| dice.pick(SIGNS)).collect()
}
