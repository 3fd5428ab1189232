//! Names of files that lead out of a project.

use std::path::{Path, PathBuf};

use actix_web::http::Method;
use serde_json::json;

use super::{Pipe, RunnerFixture, workshop::patiently};

fn contains(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|part| part == text.as_bytes())
}

/// All files below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        match path.is_dir() {
            true => found.extend(files(&path)),
            false => found.push(path),
        }
    }
    found
}

#[actix_web::test]
async fn artifacts_hold_nothing_from_outside_of_the_project() {
    let shop = RunnerFixture::open().await;
    let text = "job:\n  script: ['echo x > ../outside.txt', 'echo x > inside.txt', 'ln -s /etc/passwd link.txt', \
                'ln -s /etc folder']\n  artifacts: {paths: [../outside.txt, /etc/passwd, inside.txt, link.txt, folder/]}\n";

    assert_eq!(shop.run(text, 1).await, "success");

    let archive = shop.archive("job").await;
    assert!(contains(&archive, "inside.txt"));
    for name in ["outside.txt", "passwd", "link.txt"] {
        assert!(!contains(&archive, name), "{name}: {}", shop.log("job").await);
    }
}

#[actix_web::test]
async fn a_cache_lies_in_its_folder_whatever_its_key() {
    let shop = RunnerFixture::open().await;
    let text = "job:\n  variables: {KEY: ../../../../escape}\n  script: echo x > kept\n  cache: {key: $KEY, paths: [kept]}\n";

    assert_eq!(shop.run(text, 1).await, "success");

    let archives: Vec<PathBuf> =
        files(shop.folder.path()).into_iter().filter(|path| path.ends_with("cache.zip")).collect();
    assert_eq!(archives.len(), 1, "{}", shop.log("job").await);
    assert!(archives[0].starts_with(shop.folder.path().join("cache")), "{archives:?}");
    assert!(!shop.folder.path().join("escape").exists());
}

/// A ZIP archive with one file, which is stored as it is.
fn zip(name: &str, content: &[u8]) -> Vec<u8> {
    let mut sum = flate2::Crc::new();
    sum.update(content);
    let number = |number: usize| u32::try_from(number).expect("a small number").to_le_bytes();
    let short = |number: usize| u16::try_from(number).expect("a small number").to_le_bytes();
    let mut told = vec![20, 0, 0, 0, 0, 0, 0, 0, 0x21, 0x50];
    told.extend(sum.sum().to_le_bytes());
    told.extend([number(content.len()), number(content.len())].concat());
    told.extend([short(name.len()), short(0)].concat());
    let local = [b"PK\x03\x04".as_slice(), told.as_slice(), name.as_bytes(), content].concat();
    let central =
        [b"PK\x01\x02\x14\x03".as_slice(), told.as_slice(), &[0; 14], name.as_bytes()].concat();
    let mut end = b"PK\x05\x06\0\0\0\0\x01\0\x01\0".to_vec();
    end.extend([number(central.len()), number(local.len())].concat());
    end.extend([0, 0]);
    [local, central, end].concat()
}

#[actix_web::test]
async fn an_archive_that_would_write_outside_of_the_project_fails_the_job() {
    let shop = RunnerFixture::open().await;
    let pipe = Pipe::new(shop.folder.path());
    let text = format!(
        "stages: [build, test]\nmake: {{stage: build, script: 'echo $CI_JOB_ID $CI_JOB_TOKEN > {0}; read go < {0}'}}\n\
         use: {{stage: test, script: echo never}}\n",
        pipe.path()
    );
    shop.push(&text).await;
    let (line, heard) = pipe.hear().await;
    heard.rest().await;
    let (id, token) = line.split_once(' ').expect("an id and a token");
    let head =
        "--edge\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.zip\"\r\n\r\n";
    let evil = zip("../../../../../evil.txt", b"evil\n");
    let body = [head.as_bytes(), &evil, b"\r\n--edge--\r\n"].concat();
    let path = format!("/jobs/{id}/artifacts");
    let form = "multipart/form-data; boundary=edge";
    let caller = shop.app.anonymous().sending("JOB-TOKEN", token);
    let brought = caller.send_bytes(Method::POST, &path, form, &body).await;
    let own = pipe.path().to_owned();
    patiently(move || std::fs::write(own, "go\n").expect("somebody waits")).await;

    // Where the server refuses such an archive, nothing is handed on.
    shop.ended(2).await;
    let used = shop.job("use").await;
    let expected = if brought.status == 201 { json!("failed") } else { json!("success") };
    assert_eq!(used["status"], expected, "{}: {}", brought.status, shop.log("use").await);
    let all = files(shop.folder.path());
    assert!(!all.iter().any(|path| path.ends_with("evil.txt")), "{all:?}");
}
