//! The two services that git clients talk to, `upload-pack` and `receive-pack`, each a child of our own git.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use futures_util::{Stream, StreamExt};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{ChildStdin, ChildStdout};
use tokio::sync::mpsc::Sender;
use tokio::time::{timeout, timeout_at};

use super::cli::{Call, Git, GitProcess, ProcessClass};
use super::pkt_line;
use super::{GitError, RepoPath};

/// What a pipe holds; larger chunks would only wait to be filled.
const CHUNK: usize = 64 * 1024;

/// The list of refs of a very large repository.
const ADVERTISEMENT_LIMIT: u64 = 256 * 1024 * 1024;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Service {
    /// Clones and fetches.
    UploadPack,
    /// Pushes.
    ReceivePack,
}

impl Service {
    pub fn find(name: &str) -> Option<Self> {
        [Self::UploadPack, Self::ReceivePack].into_iter().find(|service| service.name() == name)
    }

    /// As it stands in addresses and content types.
    pub fn name(self) -> &'static str {
        match self {
            Self::UploadPack => "git-upload-pack",
            Self::ReceivePack => "git-receive-pack",
        }
    }

    fn subcommand(self) -> &'static str {
        match self {
            Self::UploadPack => "upload-pack",
            Self::ReceivePack => "receive-pack",
        }
    }
}

/// The value of a client's `Git-Protocol` header, fit to be handed to git.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Protocol(String);

impl Protocol {
    /// `version=2`, or several such words with colons between them.
    pub fn parse(header: &str) -> Option<Self> {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"=:.-_".contains(&byte);
        let fit = !header.is_empty() && header.len() <= 200 && header.bytes().all(plain);
        fit.then(|| Self(header.to_owned()))
    }

    fn is_v2(&self) -> bool {
        self.0.split(':').any(|word| word == "version=2")
    }
}

/// The size and time limits of a client's request.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Bytes of one push, as they travel.
    pub input: u64,
    /// From the start of a child to its end.
    pub time: Duration,
    /// Between two bytes of a client that sends or takes nothing.
    pub idle: Duration,
}

/// The hook folder of a push, and the identity that hooks report.
#[derive(Clone, Debug)]
pub struct PushHooks {
    pub folder: PathBuf,
    pub socket: PathBuf,
    pub identity: String,
}

/// The first answer of a conversation: capabilities, and the refs where the client does not ask for them later.
pub async fn advertise(
    git: &Git,
    repo: &RepoPath,
    service: Service,
    protocol: Option<&Protocol>,
) -> Result<Vec<u8>, GitError> {
    let call = describe(git, repo, service, protocol);
    advertised(call, repo, service, protocol).await
}

/// As [`advertise`] for a clone, with the refs that are hidden from people: for a copy of the whole repository.
pub async fn advertise_all(
    git: &Git,
    repo: &RepoPath,
    protocol: Option<&Protocol>,
) -> Result<Vec<u8>, GitError> {
    let call = describe(git, repo, Service::UploadPack, protocol).config(NOTHING_HIDDEN);
    advertised(call, repo, Service::UploadPack, protocol).await
}

async fn advertised(
    call: Call,
    repo: &RepoPath,
    service: Service,
    protocol: Option<&Protocol>,
) -> Result<Vec<u8>, GitError> {
    let mut answer = Vec::new();
    let v2 = service == Service::UploadPack && protocol.is_some_and(Protocol::is_v2);
    if !v2 {
        pkt_line::push_data(&mut answer, format!("# service={}\n", service.name()).as_bytes());
        pkt_line::push_flush(&mut answer);
    }
    let call = call
        .args(["--stateless-rpc", "--http-backend-info-refs"])
        .arg(repo.as_path())
        .output_limit(ADVERTISEMENT_LIMIT);
    answer.extend(call.succeed().await?);
    Ok(answer)
}

/// Starts serving a clone or fetch.
pub async fn upload(
    git: &Git,
    repo: &RepoPath,
    protocol: Option<&Protocol>,
    limits: Limits,
) -> Result<GitProcess, GitError> {
    let call = describe(git, repo, Service::UploadPack, protocol);
    start(call, repo, limits).await
}

/// As [`upload`], with the refs that are hidden from people.
pub async fn upload_all(
    git: &Git,
    repo: &RepoPath,
    protocol: Option<&Protocol>,
    limits: Limits,
) -> Result<GitProcess, GitError> {
    let call = describe(git, repo, Service::UploadPack, protocol).config(NOTHING_HIDDEN);
    start(call, repo, limits).await
}

/// Starts taking a push. Its hooks are the only ones that ever run.
pub async fn receive(
    git: &Git,
    repo: &RepoPath,
    protocol: Option<&Protocol>,
    limits: Limits,
    hooks: &PushHooks,
) -> Result<GitProcess, GitError> {
    let mut hooks_path = std::ffi::OsString::from("core.hooksPath=");
    hooks_path.push(&hooks.folder);
    let call = describe(git, repo, Service::ReceivePack, protocol)
        .config(hooks_path)
        .config(format!("receive.maxInputSize={}", limits.input))
        .env(super::hook::SOCKET, &hooks.socket)
        .env(super::hook::IDENTITY, &hooks.identity);
    start(call, repo, limits).await
}

/// As [`receive`], where nothing may arrive: git refuses each ref by itself, and no hook runs.
pub async fn turn_down(
    git: &Git,
    repo: &RepoPath,
    protocol: Option<&Protocol>,
    limits: Limits,
) -> Result<GitProcess, GitError> {
    let call = describe(git, repo, Service::ReceivePack, protocol)
        .config("receive.hideRefs=refs")
        .config(format!("receive.maxInputSize={}", limits.input));
    start(call, repo, limits).await
}

async fn start(call: Call, repo: &RepoPath, limits: Limits) -> Result<GitProcess, GitError> {
    let call = call.arg("--stateless-rpc").arg(repo.as_path());
    call.lane(ProcessClass::Transport).time_limit(limits.time).start().await
}

fn describe(git: &Git, repo: &RepoPath, service: Service, protocol: Option<&Protocol>) -> Call {
    let mut call = git.at(repo, service.subcommand());
    for setting in match service {
        Service::UploadPack => UPLOAD,
        Service::ReceivePack => RECEIVE,
    } {
        call = call.config(setting);
    }
    match protocol {
        Some(protocol) => call.env("GIT_PROTOCOL", &protocol.0),
        None => call,
    }
}

/// The repository's own configuration hides these; what is said later wins.
const NOTHING_HIDDEN: &str = "transfer.hideRefs=!refs/keep-around";

const UPLOAD: &[&str] = &[
    "uploadpack.allowFilter=true",
    // Version 2 of the protocol allows it anyway; partial clones of older clients need it.
    "uploadpack.allowAnySHA1InWant=true",
    "pack.windowMemory=128m",
    "core.bigFileThreshold=32m",
];

const RECEIVE: &[&str] = &[
    "receive.autogc=false",
    "receive.advertiseAtomic=true",
    "receive.advertisePushOptions=true",
    // Git moves no ref itself: its hook hands all of them to the server.
    "receive.procReceiveRefs=refs",
    // Which branch may go is decided by the rules, which have their own words for it.
    "receive.denyDeleteCurrent=ignore",
    "receive.hideRefs=refs/merge-requests",
    // Below it, loose objects take fewer syncs than a pack does.
    "receive.unpackLimit=20",
    "core.bigFileThreshold=32m",
    "receive.fsckObjects=true",
    // Flaws that histories of the last twenty years are full of, and that do no harm.
    "receive.fsck.badDate=warn",
    "receive.fsck.badDateOverflow=warn",
    "receive.fsck.badEmail=warn",
    "receive.fsck.badFilemode=warn",
    "receive.fsck.badName=warn",
    "receive.fsck.badTagName=ignore",
    "receive.fsck.badTimezone=warn",
    "receive.fsck.emptyName=warn",
    // No file system has room for what lies outside of its tree.
    "receive.fsck.fullPathname=error",
    "receive.fsck.gitmodulesMissing=warn",
    "receive.fsck.gitmodulesParse=warn",
    "receive.fsck.missingEmail=warn",
    "receive.fsck.missingNameBeforeEmail=warn",
    "receive.fsck.missingSpaceBeforeDate=warn",
    "receive.fsck.missingSpaceBeforeEmail=warn",
    "receive.fsck.missingTaggerEntry=ignore",
    "receive.fsck.multipleAuthors=warn",
    "receive.fsck.zeroPaddedDate=warn",
    "receive.fsck.zeroPaddedFilemode=warn",
];

/// Carries bytes between a client and a running service until both are done. Whatever goes wrong ends the child.
pub async fn exchange<S>(
    mut running: GitProcess,
    request: S,
    answer: Sender<io::Result<Bytes>>,
    idle: Duration,
) -> Result<(), GitError>
where
    S: Stream<Item = io::Result<Bytes>> + Unpin,
{
    let (Some(stdin), Some(stdout)) = (running.stdin.take(), running.stdout.take()) else {
        return Err(GitError::Corrupt("a git service has no pipes".to_owned()));
    };
    let deadline = running.deadline();
    let both = async { tokio::try_join!(feed(stdin, request, idle), drain(stdout, &answer, idle)) };
    let carried = tokio::select! {
        carried = timeout_at(deadline, both) => match carried {
            Ok(carried) => carried.map(drop),
            Err(_) => Err(GitError::Timeout),
        },
        // A client that leaves while git thinks would otherwise be noticed only when git says something.
        () = answer.closed() => Err(GitError::Io(io::ErrorKind::ConnectionAborted.into())),
    };
    let ended = match carried {
        Ok(()) => running.finish().await,
        Err(error) => Err(error),
    };
    if ended.is_err() {
        // An answer that breaks off must not look like one that is complete. A client that has left hears nothing.
        let _ = answer.try_send(Err(io::ErrorKind::ConnectionAborted.into()));
    }
    ended
}

async fn feed<S>(stdin: ChildStdin, mut request: S, idle: Duration) -> Result<(), GitError>
where
    S: Stream<Item = io::Result<Bytes>> + Unpin,
{
    let mut open = Some(stdin);
    while let Some(chunk) = timeout(idle, request.next()).await.or(Err(GitError::Timeout))? {
        let chunk = chunk?;
        let Some(stdin) = &mut open else { continue };
        match stdin.write_all(&chunk).await {
            // It has heard enough and says why; the client hears that only when it has sent everything.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => open = None,
            written => written?,
        }
    }
    Ok(())
}

async fn drain(
    mut stdout: ChildStdout,
    answer: &Sender<io::Result<Bytes>>,
    idle: Duration,
) -> Result<(), GitError> {
    let gone = || GitError::Io(io::ErrorKind::ConnectionAborted.into());
    let mut buffer = BytesMut::new();
    loop {
        buffer.reserve(CHUNK);
        if stdout.read_buf(&mut buffer).await? == 0 {
            return Ok(());
        }
        let chunk = buffer.split().freeze();
        match timeout(idle, answer.send(Ok(chunk))).await {
            Ok(sent) => sent.map_err(|_left| gone())?,
            Err(_) => return Err(GitError::Timeout),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Protocol, Service};

    #[test]
    fn only_plain_words_reach_git_as_a_protocol() {
        assert!(Protocol::parse("version=2").is_some_and(|given| given.is_v2()));
        assert!(Protocol::parse("agent=x:version=2").is_some_and(|given| given.is_v2()));
        assert!(Protocol::parse("version=1").is_some_and(|given| !given.is_v2()));
        for wrong in ["", "version=2\n", "a b", "a;b", &"x".repeat(300)] {
            assert_eq!(Protocol::parse(wrong), None);
        }
    }

    #[test]
    fn there_are_two_services() {
        assert_eq!(Service::find("git-upload-pack"), Some(Service::UploadPack));
        assert_eq!(Service::find("git-receive-pack"), Some(Service::ReceivePack));
        assert_eq!(Service::find("git-upload-archive"), None);
    }
}
