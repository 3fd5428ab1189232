//! The server's end of the socket.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use kernel::task::{JoinHandle, spawn};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{UnixListener, UnixStream};
use tokio::time::timeout;

use super::{Answer, HookRequest, strange};
use crate::git::GitError;

/// A push of a hundred thousand refs.
const LONGEST_QUESTION: u64 = 16 * 1024 * 1024;
const PATIENCE: Duration = Duration::from_secs(10);

/// The decision on hook requests.
pub trait Referee: Send + Sync + 'static {
    fn judge(&self, question: HookRequest) -> impl Future<Output = Answer> + Send;
}

/// Hooks are answered while this lives.
#[derive(Debug)]
pub struct Listener(JoinHandle<()>);

impl Drop for Listener {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Begins to answer hooks.
pub fn listen(socket: &Path, referee: Arc<impl Referee>) -> io::Result<Listener> {
    if let Err(error) = std::fs::remove_file(socket)
        && error.kind() != io::ErrorKind::NotFound
    {
        return Err(error);
    }
    let listener = UnixListener::bind(socket)?;
    Ok(Listener(spawn(async move {
        loop {
            match listener.accept().await {
                Ok((stream, _)) => drop(spawn(converse(stream, Arc::clone(&referee)))),
                Err(error) => {
                    tracing::warn!(%error, "a hook could not be heard");
                    // Out of file descriptors, most likely: others will be closed soon.
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
            }
        }
    })))
}

async fn converse(mut stream: UnixStream, referee: Arc<impl Referee>) {
    let question = match timeout(PATIENCE, hear(&mut stream)).await {
        Ok(Ok(question)) => question,
        Ok(Err(error)) => return tracing::warn!(%error, "a hook was not understood"),
        Err(_) => return tracing::warn!("a hook did not say what it wants"),
    };
    let answer = referee.judge(question).await.encode();
    if let Err(error) = stream.write_all(&answer).await {
        tracing::debug!(%error, "a hook did not wait for its answer");
    }
}

async fn hear(stream: &mut UnixStream) -> Result<HookRequest, GitError> {
    let mut bytes = Vec::new();
    stream.take(LONGEST_QUESTION).read_to_end(&mut bytes).await?;
    match HookRequest::decode(&bytes) {
        Ok(question) => Ok(question),
        Err(_) => Err(strange()),
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::net::Shutdown;
    use std::sync::{Arc, Mutex};

    use super::{Answer, HookRequest, Referee, listen};
    use crate::git::hook::{Hooks, Moment, RefCommand};

    #[derive(Default)]
    struct Strict(Mutex<Vec<HookRequest>>);

    impl Referee for Strict {
        async fn judge(&self, question: HookRequest) -> Answer {
            let allowed = question.commands.is_empty();
            self.0.lock().unwrap().push(question);
            if allowed { Answer::Yes } else { Answer::No(vec!["Not this one.".to_owned()]) }
        }
    }

    fn ask(socket: &std::path::Path, question: &HookRequest) -> Answer {
        let mut stream = std::os::unix::net::UnixStream::connect(socket).unwrap();
        stream.write_all(&question.encode()).unwrap();
        stream.shutdown(Shutdown::Write).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        Answer::decode(&answer).unwrap()
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn hooks_are_answered_however_long_the_folder_is_named() {
        let top = tempfile::tempdir().unwrap();
        let data = top.path().join("x".repeat(120));
        std::fs::create_dir(&data).unwrap();
        let hooks = Hooks::install(&data, "/bin/true".as_ref()).unwrap();
        // A second start finds what the first one left.
        let hooks = Hooks::install(&data, "/bin/true".as_ref()).unwrap_or(hooks);
        let referee = Arc::new(Strict::default());
        let _listener = listen(hooks.socket(), Arc::clone(&referee)).unwrap();
        let mut question = HookRequest {
            identity: "me".to_owned(),
            moment: Moment::Settled,
            quarantine: None,
            commands: Vec::new(),
        };

        assert_eq!(ask(hooks.socket(), &question), Answer::Yes);
        let name = "refs/heads/a".into();
        question.commands.push(RefCommand { name, old: None, new: None });
        assert_eq!(ask(hooks.socket(), &question), Answer::No(vec!["Not this one.".to_owned()]));
        assert_eq!(referee.0.lock().unwrap()[1], question);
    }
}
