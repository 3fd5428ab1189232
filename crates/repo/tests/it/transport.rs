//! Git's wire protocol and the services that speak it, without any HTTP.

use std::io;
use std::time::Duration;

use bytes::Bytes;
use forgeway_repo::git::cli::GitProcess;
use forgeway_repo::git::pkt_line::{Frame, MAX_DATA, frames, push_data, push_flush};
use forgeway_repo::git::service::{Limits, Protocol, Service, advertise, exchange, upload};
use forgeway_repo::git::{GitError, change::ActionKind, change::FileAction};
use futures_util::stream;
use proptest::prelude::{any, proptest};
use tokio::sync::mpsc::{self, Receiver};

use crate::scratch::Scratch;

const LIMITS: Limits =
    Limits { input: 0, time: Duration::from_secs(60), idle: Duration::from_secs(60) };

proptest! {
    #[test]
    fn whatever_is_framed_is_read_again(parts: Vec<Vec<u8>>) {
        let mut bytes = Vec::new();
        for part in &parts {
            push_data(&mut bytes, part);
        }
        push_flush(&mut bytes);

        let mut read: Vec<_> = frames(&bytes).map(Result::unwrap).collect();

        assert_eq!(read.pop(), Some(Frame::Flush));
        let expected: Vec<_> = parts.iter().map(|part| Frame::Data(part)).collect();
        assert_eq!(read, expected);
    }

    #[test]
    fn long_data_keeps_its_bytes(size in 0..3 * MAX_DATA, byte: u8) {
        let mut bytes = Vec::new();
        push_data(&mut bytes, &vec![byte; size]);

        let data = |frame| match frame { Ok(Frame::Data(data)) => data, other => panic!("{other:?}") };
        let whole: Vec<u8> = frames(&bytes).flat_map(data).copied().collect();

        assert_eq!(whole, vec![byte; size]);
    }

    #[test]
    fn no_bytes_upset_the_reader(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        // At most one error, and then the end.
        let read: Vec<_> = frames(&bytes).collect();
        assert!(read.iter().rev().skip(1).all(Result::is_ok));
    }
}

async fn filled() -> Scratch {
    let scratch = Scratch::new().await;
    let content = "x".repeat(100_000);
    scratch.commit(vec![FileAction::new(ActionKind::Create, "a").content(content)]).await;
    scratch
}

async fn start(scratch: &Scratch) -> GitProcess {
    upload(&scratch.git, &scratch.repo, None, LIMITS).await.unwrap()
}

fn wish(scratch: &Scratch) -> Bytes {
    let mut bytes = Vec::new();
    push_data(&mut bytes, format!("want {} no-progress\n", scratch.tip("main")).as_bytes());
    push_flush(&mut bytes);
    push_data(&mut bytes, b"done\n");
    bytes.into()
}

async fn heard(mut answer: Receiver<io::Result<Bytes>>) -> io::Result<Vec<u8>> {
    let mut all = Vec::new();
    while let Some(chunk) = answer.recv().await {
        all.extend_from_slice(&chunk?);
    }
    Ok(all)
}

#[tokio::test]
async fn refs_are_named_at_once_only_in_the_old_protocol() {
    let scratch = filled().await;
    let v2 = Protocol::parse("version=2");
    let ask = async |service, protocol: Option<&Protocol>| {
        let bytes = advertise(&scratch.git, &scratch.repo, service, protocol).await.unwrap();
        String::from_utf8_lossy(&bytes).into_owned()
    };

    let old = ask(Service::UploadPack, None).await;
    assert!(old.starts_with("001e# service=git-upload-pack\n0000"));
    assert!(old.contains(" refs/heads/main\n") && old.contains(" filter"));
    let new = ask(Service::UploadPack, v2.as_ref()).await;
    assert!(new.starts_with("000eversion 2\n") && !new.contains("refs/heads/main"));
    let push = ask(Service::ReceivePack, v2.as_ref()).await;
    assert!(push.starts_with("001f# service=git-receive-pack\n0000"));
    assert!(push.contains(" refs/heads/main\0") && push.contains("atomic"));
}

#[tokio::test]
async fn a_pack_is_carried_to_its_end() {
    let scratch = filled().await;
    let (sender, answer) = mpsc::channel(1);
    let request = stream::iter([Ok(wish(&scratch))]);

    let carried = exchange(start(&scratch).await, request, sender, LIMITS.idle);
    let (carried, answer) = tokio::join!(carried, heard(answer));

    carried.unwrap();
    let answer = answer.unwrap();
    assert!(answer.starts_with(b"0008NAK\nPACK"));
    assert_eq!(scratch.git.running(), 0);
}

#[tokio::test]
async fn a_client_that_says_nothing_is_not_waited_for() {
    let scratch = filled().await;
    let (sender, answer) = mpsc::channel(1);
    let request = stream::pending::<io::Result<Bytes>>();

    let carried = exchange(start(&scratch).await, request, sender, Duration::from_millis(20)).await;

    assert!(matches!(carried, Err(GitError::Timeout)), "{carried:?}");
    assert!(heard(answer).await.is_err(), "the answer does not look complete");
}

#[tokio::test]
async fn a_request_that_breaks_off_ends_the_answer_with_an_error() {
    let scratch = filled().await;
    let (sender, answer) = mpsc::channel(1);
    let broken = Err(io::Error::from(io::ErrorKind::ConnectionReset));
    let request = stream::iter([Ok(wish(&scratch).slice(..20)), broken]);

    let carried = exchange(start(&scratch).await, request, sender, LIMITS.idle).await;

    assert!(matches!(carried, Err(GitError::Io(_))), "{carried:?}");
    assert!(heard(answer).await.is_err());
}

#[tokio::test]
async fn a_client_that_left_is_not_served_any_more() {
    let scratch = filled().await;
    let (sender, answer) = mpsc::channel(1);
    drop(answer);
    let request = stream::pending::<io::Result<Bytes>>();

    let carried = exchange(start(&scratch).await, request, sender, LIMITS.idle).await;

    assert!(matches!(carried, Err(GitError::Io(_))), "{carried:?}");
}
