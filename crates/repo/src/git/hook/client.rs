//! The hook itself: our program under another name, which asks the server and repeats the answer.

use std::io::{self, BufRead as _, Read as _, Write as _};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use super::{
    Answer, HookRequest, IDENTITY, Moment, PRE_RECEIVE, PROC_RECEIVE, RefCommand, Report, SOCKET,
};
use crate::git::pkt_line;

const NO_SERVER: &str = "The server cannot take this push now. Please try again.";

/// Does a hook's work when git started this program under a hook's name. Call it before anything else.
pub fn run_if_called() -> Option<ExitCode> {
    let program = std::env::args_os().next()?;
    let name = Path::new(&program).file_name()?;
    if name == PRE_RECEIVE {
        Some(pre_receive())
    } else if name == PROC_RECEIVE {
        Some(if proc_receive().is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    } else {
        None
    }
}

fn pre_receive() -> ExitCode {
    let answer = match ask_with_quarantine() {
        Ok(Answer::Yes) => return ExitCode::SUCCESS,
        Ok(Answer::No(lines)) => lines,
        Ok(Answer::Report(_)) | Err(_) => vec![NO_SERVER.to_owned()],
    };
    say(&answer);
    ExitCode::FAILURE
}

fn ask_with_quarantine() -> io::Result<Answer> {
    let lines: Vec<Vec<u8>> = io::stdin().lock().split(b'\n').collect::<io::Result<_>>()?;
    let commands = lines.iter().filter_map(|line| RefCommand::parse(line)).collect();
    ask(Moment::Received, variable("GIT_QUARANTINE_PATH").map(PathBuf::from), commands)
}

/// Speaks with git as gitprotocol does: what each side can do, the commands, and what became of them.
fn proc_receive() -> io::Result<()> {
    let (mut stdin, mut stdout) = (io::stdin().lock(), io::stdout().lock());
    pkt_line::read_section(&mut stdin)?;
    let mut greeting = Vec::new();
    // Push options stand in front of the pack, where the server has read them.
    pkt_line::push_data(&mut greeting, b"version=1\n");
    pkt_line::push_flush(&mut greeting);
    stdout.write_all(&greeting)?;
    stdout.flush()?;
    let lines = pkt_line::read_section(&mut stdin)?;
    let commands: Vec<RefCommand> =
        lines.iter().filter_map(|line| RefCommand::parse(line)).collect();
    let report = match ask(Moment::Settled, None, commands.clone()) {
        Ok(Answer::Report(report)) => report,
        Ok(Answer::No(lines)) => Report::refusing(&commands, "refused", lines),
        Ok(Answer::Yes) | Err(_) => {
            Report::refusing(&commands, "no answer", vec![NO_SERVER.to_owned()])
        }
    };
    say(&report.lines);
    let mut told = Vec::new();
    for (name, reason) in &report.refs {
        pkt_line::push_data(&mut told, &Report::status(name, reason.as_deref()));
    }
    pkt_line::push_flush(&mut told);
    stdout.write_all(&told)?;
    stdout.flush()
}

/// To the pusher. Nobody is left to tell when it cannot be written.
fn say(lines: &[String]) {
    let mut stderr = io::stderr().lock();
    for line in lines {
        let _ = writeln!(stderr, "{line}");
    }
}

fn variable(name: &str) -> Option<std::ffi::OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

fn ask(
    moment: Moment,
    quarantine: Option<PathBuf>,
    commands: Vec<RefCommand>,
) -> io::Result<Answer> {
    let absent = || io::Error::from(io::ErrorKind::NotFound);
    let socket = variable(SOCKET).ok_or_else(absent)?;
    let identity = variable(IDENTITY).and_then(|value| value.into_string().ok());
    let identity = identity.ok_or_else(absent)?;
    let question = HookRequest { identity, moment, quarantine, commands };
    let mut stream = UnixStream::connect(socket)?;
    stream.write_all(&question.encode())?;
    stream.shutdown(Shutdown::Write)?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer)?;
    Answer::decode(&answer).map_err(io::Error::other)
}
