//! Archives: valid, the same every time, and with the entries that git puts in.

use std::io::{Read, Write};
use std::process::{Command, Stdio};

use bzip2::read::BzDecoder;
use forgeway_repo::git::archive::{Archive, ArchiveFormat, archive};
use forgeway_repo::git::change::ActionKind::Create;
use forgeway_repo::git::change::FileAction;
use forgeway_repo::git::{GitError, TreePath};
use futures_util::TryStreamExt;

use crate::scratch::{Scratch, run_in};

async fn furnished() -> Scratch {
    let scratch = Scratch::new().await;
    let large: Vec<u8> =
        (0..300_000_u32).map(|n| n.wrapping_mul(2_654_435_761).to_be_bytes()[0]).collect();
    scratch
        .commit(vec![
            FileAction::new(Create, "a").content("alpha"),
            FileAction::new(Create, "d/run").content("#!/bin/sh\n").executable(true),
            FileAction::new(Create, "d/large").content(large),
        ])
        .await;
    scratch
}

async fn fetch(
    scratch: &Scratch,
    format: ArchiveFormat,
    path: Option<&str>,
) -> Result<Vec<u8>, GitError> {
    let wanted = Archive {
        commit: scratch.tip("main"),
        format,
        top: "project-feature/x-1".to_owned(),
        path: path.map(|path| TreePath::lookup(path).unwrap()),
    };
    let stream = archive(&scratch.git, &scratch.repo, &wanted, None).await?;
    let bytes = stream.try_fold(Vec::new(), async |mut all, chunk| {
        all.extend_from_slice(&chunk);
        Ok(all)
    });
    bytes.await
}

fn by_git(scratch: &Scratch, format: &str) -> Vec<u8> {
    run_in(
        &scratch.repo,
        &["archive", &format!("--format={format}"), "--prefix=project-feature-x-1/", "main"],
    )
    .stdout
}

fn tar_list(tar: &[u8]) -> String {
    let mut child =
        Command::new("tar").arg("t").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(tar).unwrap();
    String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap()
}

#[tokio::test]
async fn every_format_holds_what_git_puts_in() {
    let scratch = furnished().await;
    let tar = by_git(&scratch, "tar");

    assert_eq!(fetch(&scratch, ArchiveFormat::Tar, None).await.unwrap(), tar);
    assert_eq!(fetch(&scratch, ArchiveFormat::Zip, None).await.unwrap(), by_git(&scratch, "zip"));
    let (gz, bz2) = (
        fetch(&scratch, ArchiveFormat::TarGz, None).await,
        fetch(&scratch, ArchiveFormat::TarBz2, None).await,
    );

    let (gz, bz2) = (gz.unwrap(), bz2.unwrap());
    let (mut from_gz, mut from_bz2) = (Vec::new(), Vec::new());
    flate2::read::GzDecoder::new(gz.as_slice()).read_to_end(&mut from_gz).unwrap();
    BzDecoder::new(bz2.as_slice()).read_to_end(&mut from_bz2).unwrap();
    assert!(from_gz == tar && from_bz2 == tar);
    assert_eq!(fetch(&scratch, ArchiveFormat::TarGz, None).await.unwrap(), gz);
    assert_eq!(fetch(&scratch, ArchiveFormat::TarBz2, None).await.unwrap(), bz2);
}

#[tokio::test]
async fn a_path_limits_the_archive_to_what_lies_below() {
    let scratch = furnished().await;

    let tar = fetch(&scratch, ArchiveFormat::Tar, Some("d")).await.unwrap();

    let top = "project-feature-x-1";
    assert_eq!(tar_list(&tar), format!("{top}/\n{top}/d/\n{top}/d/large\n{top}/d/run\n"));
    assert!(matches!(
        fetch(&scratch, ArchiveFormat::TarBz2, Some("none")).await,
        Err(GitError::NotFound)
    ));
    assert!(matches!(
        fetch(&scratch, ArchiveFormat::Zip, Some("*")).await,
        Err(GitError::NotFound)
    ));
}

#[tokio::test]
async fn a_reader_who_leaves_frees_the_place() {
    let scratch = furnished().await;
    let wanted = Archive {
        commit: scratch.tip("main"),
        format: ArchiveFormat::Tar,
        top: "x".to_owned(),
        path: None,
    };

    for _ in 0..40 {
        drop(archive(&scratch.git, &scratch.repo, &wanted, None).await.unwrap());
    }

    assert!(fetch(&scratch, ArchiveFormat::Tar, None).await.is_ok());
}

#[test]
fn every_ending_is_known() {
    for (ending, format) in [
        ("zip", ArchiveFormat::Zip),
        ("tar", ArchiveFormat::Tar),
        ("tar.gz", ArchiveFormat::TarGz),
        ("tgz", ArchiveFormat::TarGz),
        ("gz", ArchiveFormat::TarGz),
        ("tar.bz2", ArchiveFormat::TarBz2),
        ("tbz", ArchiveFormat::TarBz2),
        ("tbz2", ArchiveFormat::TarBz2),
        ("tb2", ArchiveFormat::TarBz2),
        ("bz2", ArchiveFormat::TarBz2),
    ] {
        assert_eq!(ArchiveFormat::of_extension(ending), Some(format));
    }
    assert_eq!(ArchiveFormat::of_extension("rar"), None);
}
