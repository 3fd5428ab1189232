//! Finds quick actions in a text: lines that begin with a slash and a known name, code aside.

use super::table::{Argument, Effect, Row, find};
use crate::{item::ItemKind, reference::Blocks};

/// A quick action as somebody wrote it.
#[derive(Clone, Copy)]
pub struct Command<'t> {
    pub(super) row: &'static Row,
    pub(super) argument: &'t str,
}

/// A text without its quick actions, and these.
pub struct ParsedText<'t> {
    pub(crate) text: String,
    pub(crate) commands: Vec<Command<'t>>,
}

const SHRUG: &str = "¯\\\\_(ツ)_/¯";
const TABLEFLIP: &str = "(╯°□°)╯︵ ┻━┻";

/// Takes quick actions for items of a kind out of a text.
pub fn part(text: &str, kind: ItemKind) -> ParsedText<'_> {
    let mut blocks = Blocks::new();
    let (mut kept, mut commands) = (String::with_capacity(text.len()), Vec::new());
    for line in text.split_inclusive('\n') {
        let is_code = blocks.next_is_code(line);
        let ending = if line.ends_with('\n') { "\n" } else { "" };
        match command(line, kind).filter(|_| !is_code) {
            None => kept.push_str(line),
            Some(command) => match picture(command.row.effect) {
                Some(picture) => {
                    let line = format!("{} {picture}", command.argument);
                    kept.push_str(line.trim_start());
                    kept.push_str(ending);
                }
                None => commands.push(command),
            },
        }
    }
    if commands.is_empty() {
        return ParsedText { text: kept, commands };
    }
    ParsedText { text: kept.trim().to_owned(), commands }
}

fn picture(effect: Effect) -> Option<&'static str> {
    match effect {
        Effect::Shrug => Some(SHRUG),
        Effect::Tableflip => Some(TABLEFLIP),
        _ => None,
    }
}

fn command(line: &str, kind: ItemKind) -> Option<Command<'_>> {
    let line = line.trim_end().strip_prefix('/')?;
    let (name, argument) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let row = find(&name.to_ascii_lowercase(), kind)?;
    let argument = argument.trim();
    let fits = match row.argument {
        Argument::No => argument.is_empty(),
        Argument::Maybe => true,
        Argument::Yes => !argument.is_empty(),
    };
    fits.then_some(Command { row, argument })
}

#[cfg(test)]
mod tests {
    use super::part;
    use crate::item::ItemKind;

    fn parted(text: &str, kind: ItemKind) -> (String, Vec<String>) {
        let parted = part(text, kind);
        let shown = |command: &super::Command<'_>| {
            format!("{:?} {}", command.row.effect, command.argument).trim_end().to_owned()
        };
        (parted.text, parted.commands.iter().map(shown).collect())
    }

    #[test]
    fn lines_that_are_commands_are_taken_out() {
        let (text, commands) = parted("Done.\n/close\n/label ~a ~\"b c\"\nBye", ItemKind::Issue);
        assert_eq!(text, "Done.\nBye");
        assert_eq!(commands, ["Close", "Label ~a ~\"b c\""]);
    }

    #[test]
    fn what_is_no_command_stays() {
        for text in [
            "/nonsense\n",
            "see /close",
            " /close",
            "/close now",
            "/label",
            "```\n/close\n```",
            "    /close",
            "> /close",
            "/draft",
        ] {
            assert_eq!(parted(text, ItemKind::Issue), (text.to_owned(), vec![]), "{text}");
        }
    }

    #[test]
    fn pictures_are_drawn_where_they_stand() {
        let (text, commands) = parted("/shrug well\nso", ItemKind::MergeRequest);
        assert_eq!(text, "well ¯\\\\_(ツ)_/¯\nso");
        assert!(commands.is_empty());
    }
}
