//! Child processes: each leads a process group of its own, so that whatever it starts ends with it.

use std::{
    ffi::OsStr,
    io::Read as _,
    os::unix::process::{CommandExt as _, ExitStatusExt as _},
    process::{Child, Command, Stdio},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use crate::control::{Control, Interrupt};

/// Between asking a process to end and ending it.
const GRACE: Duration = Duration::from_secs(10);
/// What still writes after its leader has ended and the group was killed is not waited for any longer.
const DRAIN: Duration = Duration::from_secs(5);
/// Variables of this program that children get, unless they are given others.
const INHERITED: &[&str] = &[
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "TZ",
    "TMPDIR",
    "XDG_RUNTIME_DIR",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "ALL_PROXY",
    "all_proxy",
];

/// Limits after which a process is stopped.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) deadline: Option<Instant>,
    /// The weakest interrupt that stops it.
    pub(crate) heeds: Interrupt,
}

/// The exit status of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Exited(i32),
    TimedOut,
    Interrupted(Interrupt),
}

/// Takes what a process writes.
pub(crate) type Sink = Box<dyn FnMut(&[u8]) + Send>;

/// A command that knows nothing of this program's settings.
pub(crate) fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    command.env_clear();
    let inherited = std::env::vars_os().filter(|(name, _)| {
        name.to_str().is_some_and(|name| INHERITED.contains(&name) || name.starts_with("LC_"))
    });
    command.envs(inherited);
    command
}

/// Runs a command with both its outputs going to `sink`, in the order in which they were written.
pub(crate) fn run(
    mut command: Command,
    sink: Sink,
    control: &Arc<Control>,
    limits: Limits,
) -> Result<End> {
    let (reader, writer) = std::io::pipe()?;
    let program = command.get_program().to_string_lossy().into_owned();
    command.stdin(Stdio::null()).stdout(writer.try_clone()?).stderr(writer).process_group(0);
    let child = command.spawn().with_context(|| format!("cannot run {program}"))?;
    // It holds the writing end, which must close for the output to end.
    drop(command);
    let drained = Arc::new(AtomicBool::new(false));
    let pump = spawn_pump(reader, sink, Arc::clone(control), Arc::clone(&drained));
    let end = wait(child, control, limits);
    let until = Instant::now().checked_add(DRAIN);
    if control.wait_until(until, |_| drained.load(Ordering::Acquire)) {
        // It has nothing more to do.
        let _ended = pump.join();
    }
    end
}

/// Runs a command and collects what it writes, up to a MiB.
pub(crate) fn capture(
    command: Command,
    control: &Arc<Control>,
    limits: Limits,
) -> Result<(End, String)> {
    const MOST: usize = 1 << 20;
    let written = Arc::new(Mutex::new(Vec::new()));
    let own = Arc::clone(&written);
    let sink = move |bytes: &[u8]| {
        let mut written = own.lock().unwrap_or_else(PoisonError::into_inner);
        let room = MOST.saturating_sub(written.len()).min(bytes.len());
        written.extend_from_slice(&bytes[..room]);
    };
    let end = run(command, Box::new(sink), control, limits)?;
    let written = written.lock().unwrap_or_else(PoisonError::into_inner);
    Ok((end, String::from_utf8_lossy(&written).into_owned()))
}

fn spawn_pump(
    mut reader: std::io::PipeReader,
    mut sink: Sink,
    control: Arc<Control>,
    drained: Arc<AtomicBool>,
) -> thread::JoinHandle<()> {
    thread::spawn(move || {
        let mut block = vec![0; 32 << 10];
        loop {
            match reader.read(&mut block) {
                Ok(0) => break,
                Ok(read) => sink(&block[..read]),
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(_broken) => break,
            }
        }
        drained.store(true, Ordering::Release);
        control.wake();
    })
}

/// Waits for the end of a process, or brings it about. Nothing of its group is left afterwards.
fn wait(mut child: Child, control: &Arc<Control>, limits: Limits) -> Result<End> {
    let pid = Pid::from_child(&child);
    let exited = Arc::new(AtomicBool::new(false));
    let watcher = {
        let (exited, control) = (Arc::clone(&exited), Arc::clone(control));
        thread::spawn(move || {
            // The process is left to be reaped below: until then its number, and that of its group, is not given to
            // another one.
            let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
            while let Err(rustix::io::Errno::INTR) = waitid(WaitId::Pid(pid), options) {}
            exited.store(true, Ordering::Release);
            control.wake();
        })
    };
    let has_exited = || exited.load(Ordering::Acquire);
    control.wait_until(limits.deadline, |state| has_exited() || state >= Some(limits.heeds));
    let end = match (has_exited(), control.at_least(limits.heeds)) {
        (true, _) => None,
        (false, Some(interrupt)) => Some(End::Interrupted(interrupt)),
        (false, None) => Some(End::TimedOut),
    };
    if end.is_some() {
        // It may be gone already.
        let _gone = kill_process_group(pid, Signal::TERM);
        control.wait_until(Instant::now().checked_add(GRACE), |_| has_exited());
    }
    let _gone = kill_process_group(pid, Signal::KILL);
    let status = child.wait()?;
    let _ended = watcher.join();
    let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
    Ok(end.unwrap_or(End::Exited(code.unwrap_or(1))))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits { deadline: None, heeds: Interrupt::Canceled };

    fn shell(script: &str) -> Command {
        let mut command = command("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn both_outputs_arrive_in_order_with_the_exit_code() {
        let control = Arc::new(Control::default());
        let (end, text) =
            capture(shell("echo a; echo b >&2; echo c; exit 3"), &control, LIMITS).unwrap();
        assert_eq!((end, text.as_str()), (End::Exited(3), "a\nb\nc\n"));
    }

    #[test]
    fn what_a_process_has_started_ends_with_it() {
        let control = Arc::new(Control::default());
        let (end, text) = capture(shell("sleep 1000 & echo started"), &control, LIMITS).unwrap();
        assert_eq!((end, text.as_str()), (End::Exited(0), "started\n"));
    }

    #[test]
    fn a_process_ends_when_its_time_is_up() {
        let control = Arc::new(Control::default());
        let limits = Limits { deadline: Some(Instant::now()), ..LIMITS };
        let (end, _) = capture(shell("sleep 1000"), &control, limits).unwrap();
        assert_eq!(end, End::TimedOut);
    }

    #[test]
    fn an_interrupt_ends_a_process_that_heeds_it() {
        let control = Arc::new(Control::default());
        let own = Arc::clone(&control);
        let sink = move |_: &[u8]| own.interrupt(Interrupt::Canceled);
        let end = run(shell("echo here; sleep 1000"), Box::new(sink), &control, LIMITS).unwrap();
        assert_eq!(end, End::Interrupted(Interrupt::Canceled));
        let after = Limits { heeds: Interrupt::RunnerStopped, ..LIMITS };
        assert_eq!(capture(shell("exit 0"), &control, after).unwrap().0, End::Exited(0));
    }

    #[test]
    fn children_do_not_see_settings_of_this_program() {
        let control = Arc::new(Control::default());
        let (_, text) = capture(shell("env"), &control, LIMITS).unwrap();
        assert!(text.contains("PATH=") && !text.contains("CARGO_MANIFEST_DIR"), "{text}");
    }
}
