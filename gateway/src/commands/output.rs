//! Output of commands.

/// Writes to standard output, without a line break of its own.
#[expect(clippy::print_stdout, reason = "this is what the commands are for")]
pub(super) fn print(text: &str) {
    print!("{text}");
}
