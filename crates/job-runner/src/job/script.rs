//! Writes the shell script of a step, for bash and for plain POSIX shells.

use std::path::Path;

use super::variables::Variables;

const GREEN: &str = "\x1b[32;1m";
const RESET: &str = "\x1b[0;m";

/// The parts of a job's script.
pub(crate) struct Script<'s> {
    pub(crate) lines: &'s [String],
    pub(crate) variables: &'s Variables,
    /// Folder in which it begins, as the script sees it.
    pub(crate) folder: &'s Path,
    /// Of files that it makes, in octal.
    pub(crate) umask: &'s str,
}

impl Script<'_> {
    /// The text. Each command is shown before it runs, and the first one that fails ends the script.
    pub(crate) fn text(&self) -> String {
        let mut text = format!("umask {}\n", self.umask);
        for (name, value) in self.variables.iter() {
            text.push_str(&format!("export {name}={}\n", quoted(value)));
        }
        text.push_str("set -e\n");
        // In shells that do not know it, asking for it would end the script; a subshell ends instead.
        text.push_str("if (set -o pipefail) 2>/dev/null; then set -o pipefail; fi\n");
        text.push_str(&format!("cd {}\n", quoted(&self.folder.to_string_lossy())));
        if self.variables.is_on("CI_DEBUG_TRACE") {
            text.push_str("set -x\n");
        }
        for line in self.lines {
            text.push_str(&format!("printf '%s\\n' {}\n", quoted(&shown(line))));
            text.push_str(line);
            text.push('\n');
        }
        text
    }
}

/// A command as the log shows it.
fn shown(line: &str) -> String {
    let line = line.trim();
    match line.split_once('\n') {
        Some((first, _)) => {
            format!("{GREEN}$ {} # collapsed multi-line command{RESET}", first.trim_end())
        }
        None => format!("{GREEN}$ {line}{RESET}"),
    }
}

/// Text as one word of a shell. No shell can hold a NUL.
pub(crate) fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\0', "").replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;
    use crate::api::payload::Variable;

    fn output(shell: &str, lines: &[&str], variables: &[(&str, &str)]) -> (Option<i32>, String) {
        let given: Vec<Variable> = variables
            .iter()
            .map(|(key, value)| Variable {
                key: (*key).to_owned(),
                value: (*value).to_owned(),
                raw: true,
                ..Variable::default()
            })
            .collect();
        let variables = Variables::new(&given, &[], Path::new("/tmp"));
        let lines: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
        let script =
            Script { lines: &lines, variables: &variables, folder: Path::new("/"), umask: "022" };
        let done = Command::new(shell).args(["-c", &script.text()]).output().unwrap();
        (done.status.code(), String::from_utf8(done.stdout).unwrap())
    }

    #[test]
    fn values_reach_commands_as_they_are_in_any_shell() {
        let odd = "it's \"$HOME\" `id` \\ \n two";
        for shell in ["sh", "bash"] {
            let (code, text) = output(shell, &["printf %s \"$ODD\""], &[("ODD", odd)]);
            assert_eq!(code, Some(0));
            assert!(text.ends_with(odd), "{shell}: {text}");
        }
    }

    #[test]
    fn the_first_command_that_fails_ends_the_script_with_its_code() {
        for shell in ["sh", "bash"] {
            let (code, text) = output(shell, &["echo one", "(exit 7)", "echo two"], &[]);
            assert_eq!(code, Some(7));
            assert!(text.contains("one\n") && !text.contains("\ntwo"), "{text}");
        }
        assert_eq!(output("bash", &["false | true"], &[]).0, Some(1));
    }

    #[test]
    fn commands_are_shown_before_they_run() {
        let (_, text) = output("sh", &["echo 'hi'", "if true; then\n  echo x\nfi"], &[]);
        assert!(text.starts_with("\x1b[32;1m$ echo 'hi'\x1b[0;m\nhi\n"), "{text:?}");
        assert!(text.contains("$ if true; then # collapsed multi-line command"), "{text:?}");
    }
}
