//! The hook itself: our program under another name, which asks the server and repeats the answer.

use std::ffi::OsStr;
use std::io::{self, BufRead as _, Read as _, Write as _};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use super::{
    Answer, Asked, IDENTITY, Moment, PRE_RECEIVE, Question, REFERENCE_TRANSACTION, SOCKET,
};

/// Does a hook's work when git started this program under a hook's name. Call it before anything else.
pub fn run_if_called() -> Option<ExitCode> {
    let mut words = std::env::args_os();
    let program = words.next()?;
    let name = Path::new(&program).file_name()?;
    let moment = if name == PRE_RECEIVE {
        Some(Moment::Received)
    } else if name == REFERENCE_TRANSACTION {
        words.next().as_deref().and_then(OsStr::to_str).and_then(transaction_state)
    } else {
        return None;
    };
    // States that this version does not know need no answer.
    let Some(moment) = moment else { return Some(ExitCode::SUCCESS) };
    let mut stderr = io::stderr().lock();
    // Nobody is left to tell when the complaint cannot be written.
    Some(match ask(moment) {
        Ok(Answer::Yes) => ExitCode::SUCCESS,
        Ok(Answer::No(lines)) => {
            for line in lines {
                let _ = writeln!(stderr, "{line}");
            }
            ExitCode::FAILURE
        }
        Err(_) => {
            let _ = writeln!(stderr, "The server cannot take this push now. Please try again.");
            ExitCode::FAILURE
        }
    })
}

fn transaction_state(word: &str) -> Option<Moment> {
    match word {
        "prepared" => Some(Moment::Prepared),
        "committed" => Some(Moment::Committed),
        "aborted" => Some(Moment::Aborted),
        _ => None,
    }
}

fn ask(moment: Moment) -> io::Result<Answer> {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let absent = || io::Error::from(io::ErrorKind::NotFound);
    let socket = variable(SOCKET).ok_or_else(absent)?;
    let identity = variable(IDENTITY).and_then(|value| value.into_string().ok());
    let quarantine = variable("GIT_QUARANTINE_PATH").map(PathBuf::from);
    let lines: Vec<Vec<u8>> = io::stdin().lock().split(b'\n').collect::<io::Result<_>>()?;
    let question = Question {
        identity: identity.ok_or_else(absent)?,
        moment,
        quarantine: quarantine.filter(|_| moment == Moment::Received),
        asked: lines.iter().filter_map(|line| Asked::parse(line)).collect(),
    };
    let mut stream = UnixStream::connect(socket)?;
    stream.write_all(&question.encode())?;
    stream.shutdown(Shutdown::Write)?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer)?;
    Answer::decode(&answer).map_err(io::Error::other)
}
