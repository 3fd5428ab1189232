//! Histories that nobody thought of.

use super::history::{Entry, History, Mark};

/// A small generator of its own (xorshift), so that a seed means the same history for ever.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % sides
    }

    fn index(&mut self, length: usize) -> usize {
        let length = u64::try_from(length).unwrap_or(1);
        usize::try_from(self.roll(length)).unwrap_or(0)
    }
}

type Files = Vec<(String, Vec<String>)>;

struct Line {
    tip: Mark,
    files: Files,
}

pub(super) fn history(seed: u64, commits: usize) -> History {
    let mut dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let mut history = History::new();
    let mut time = 1_500_000_000;
    let files: Files =
        (0..6).map(|nth| (format!("d{}/f{nth}.txt", nth % 3), lines(&mut dice, 12))).collect();
    let entries: Vec<Entry> = files.iter().map(|(path, lines)| content(path, lines)).collect();
    let tip = history.commit("main", time, "Start\n", &[], &entries);
    let mut branches = vec![Line { tip, files }];
    for nth in 1..commits {
        // Several commits share a second, and some clocks go wrong.
        time += i64::try_from(dice.roll(3)).unwrap_or(0) * 50;
        let at = if dice.roll(12) == 0 { time - 700 } else { time };
        let chosen = dice.index(branches.len());
        match dice.roll(10) {
            0 if branches.len() < 6 => {
                let (tip, files) = (branches[chosen].tip, branches[chosen].files.clone());
                branches.push(Line { tip, files });
            }
            1 | 2 if branches.len() > 1 => {
                merge(&mut history, &mut dice, &mut branches, chosen, at, nth);
            }
            _ => {
                let line = &mut branches[chosen];
                let entries = change(&mut dice, &mut line.files, nth);
                line.tip = history.commit(
                    &name(chosen),
                    at,
                    &format!("Step {nth}\n"),
                    &[line.tip],
                    &entries,
                );
            }
        }
        if dice.roll(15) == 0 {
            history.lightweight_tag(&format!("t{nth}"), branches[chosen].tip);
        }
    }
    for (nth, line) in branches.iter().enumerate() {
        history.branch(&name(nth), line.tip);
    }
    history
}

fn name(branch: usize) -> String {
    if branch == 0 { "main".to_owned() } else { format!("b{branch}") }
}

fn merge(
    history: &mut History,
    dice: &mut Dice,
    branches: &mut [Line],
    into: usize,
    at: i64,
    nth: usize,
) {
    let from = (into + 1 + dice.index(branches.len() - 1)) % branches.len();
    if branches[into].tip == branches[from].tip {
        return;
    }
    let parents = [branches[into].tip, branches[from].tip];
    // Takes all of the other side, or nothing, or each file by chance.
    let taken = dice.roll(3);
    let (ours, theirs) = (branches[into].files.clone(), branches[from].files.clone());
    let mut merged: Files = match taken {
        0 => ours.clone(),
        1 => theirs.clone(),
        _ => ours.iter().filter(|_| dice.roll(2) == 0).cloned().collect(),
    };
    if taken == 2 {
        for (path, lines) in theirs {
            if !merged.iter().any(|(known, _)| *known == path) {
                merged.push((path, lines));
            }
        }
    }
    let mut entries: Vec<Entry> = ours.iter().map(|(path, _)| Entry::delete(path)).collect();
    entries.extend(merged.iter().map(|(path, lines)| content(path, lines)));
    let tip = history.commit(&name(into), at, &format!("Merge {nth}\n"), &parents, &entries);
    branches[into] = Line { tip, files: merged };
}

fn change(dice: &mut Dice, files: &mut Files, nth: usize) -> Vec<Entry> {
    let mut entries = Vec::new();
    for _ in 0..=dice.roll(2) {
        if files.is_empty() || dice.roll(6) == 0 {
            let path = format!("d{}/n{nth}-{}.txt", dice.roll(3), dice.roll(100));
            let lines = lines(dice, 10);
            entries.push(content(&path, &lines));
            files.retain(|(known, _)| *known != path);
            files.push((path, lines));
            continue;
        }
        let chosen = dice.index(files.len());
        match dice.roll(8) {
            0 => entries.push(Entry::delete(&files.remove(chosen).0)),
            1 | 2 => {
                let to = format!("d{}/r{nth}-{}.txt", dice.roll(3), dice.roll(100));
                if files.iter().any(|(path, _)| *path == to) {
                    continue;
                }
                let (from, mut lines) = files.remove(chosen);
                edit(dice, &mut lines);
                entries.push(Entry::delete(&from));
                entries.push(content(&to, &lines));
                files.push((to, lines));
            }
            _ => {
                let (path, lines) = &mut files[chosen];
                edit(dice, lines);
                entries.push(content(path, lines));
            }
        }
    }
    entries
}

fn edit(dice: &mut Dice, lines: &mut Vec<String>) {
    for _ in 0..=dice.roll(4) {
        let at = dice.index(lines.len() + 1);
        match dice.roll(3) {
            0 => lines.insert(at, line(dice)),
            1 if at < lines.len() => {
                lines.remove(at);
            }
            _ if at < lines.len() => lines[at] = line(dice),
            _ => lines.push(line(dice)),
        }
    }
}

fn lines(dice: &mut Dice, count: usize) -> Vec<String> {
    (0..count).map(|_| line(dice)).collect()
}

/// Few different lines, so that there is more than one way to see a difference.
fn line(dice: &mut Dice) -> String {
    const WORDS: [&str; 8] =
        ["{", "}", "\tcall();", "fn name() {", "", "    let x = 1;", "word", "end"];
    match dice.roll(3) {
        0 => WORDS[dice.index(WORDS.len())].to_owned(),
        _ => format!("  line {}", dice.roll(60)),
    }
}

fn content(path: &str, lines: &[String]) -> Entry {
    let mut text = lines.join("\n");
    text.push('\n');
    Entry::file(path, &text)
}
