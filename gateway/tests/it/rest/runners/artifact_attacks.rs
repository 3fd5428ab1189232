//! Artifacts that are meant to do harm, and people who look for those of others.

use std::io::Write as _;

use flate2::{Compression, write::GzEncoder};
use kernel::{AccessLevel::Guest, Visibility};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

use super::{
    archives::{ZipMember, archive_of},
    program::{Runner, Work, set_up},
};
use crate::support::{
    Answer, Person, Server, TestApp,
    ci::{commit, pipelines},
};

const ONE: &str = "job: {script: x, artifacts: {paths: [out]}}\n";

/// A job whose archive holds these files, and where its artifacts are.
async fn with_files<'a>(app: &'a TestApp, files: &[ZipMember]) -> (Person<'a>, String) {
    let (project, mia, runner) = set_up(app, ONE).await;
    let payload = runner.take().await;
    let work = Work::new(app, &payload);
    work.bring("", "artifacts.zip", &archive_of(files)).await.with(201);
    work.report(json!({ "state": "success" })).await.with(200);
    (mia, format!("/projects/{project}/jobs/{}/artifacts", payload["id"]))
}

#[actix_web::test]
async fn no_path_leads_out_of_an_archive() {
    let app = TestApp::new();
    let names = ["../up.txt", "/etc/passwd", "nul\0.txt", "a//b.txt", "./dot.txt", "ok.txt"];
    let files: Vec<ZipMember> = names.iter().map(|name| ZipMember::plain(name, b"one")).collect();
    let (mia, path) = with_files(&app, &files).await;

    for odd in [
        "..%2Fup.txt",
        "%2E%2E%2Fup.txt",
        "a%2F..%2Fok.txt",
        "%2Fetc%2Fpasswd",
        "nul%00.txt",
        "/etc/passwd",
        "ok.txt%2F..",
    ] {
        assert_eq!(mia.get(&format!("{path}/{odd}")).await.status, 400, "{odd}");
    }
    for absent in ["etc%2Fpasswd", "..%5Cup.txt", "up.txt", "OK.txt", "ok.txt%2F", "%FF"] {
        assert_eq!(mia.get(&format!("{path}/{absent}")).await.status, 404, "{absent}");
    }
    assert_eq!(mia.get(&format!("{path}/ok.txt")).await.bytes, b"one");
    let list = app.state.data().join("artifacts");
    assert!(!list.join("up.txt").exists());
}

#[actix_web::test]
async fn a_file_that_lies_of_itself_is_not_found() {
    let app = TestApp::new();
    let (plain, packed) =
        (ZipMember::plain("x", b"0123456789"), ZipMember::deflated("x", &[b'x'; 1000]));
    let named = |name: &str, file: ZipMember| ZipMember { name: name.as_bytes().to_vec(), ..file };
    let files = [
        named("long", plain.but(|file| file.size = u32::MAX - 1)),
        named("longer", packed.but(|file| file.size = u32::MAX - 1)),
        named("packed", plain.but(|file| file.compressed = 1 << 30)),
        named("far", plain.but(|file| file.shift = 1 << 30)),
        named("near", plain.but(|file| file.shift = 1)),
        named("method", plain.but(|file| file.method = 12)),
        named("64", plain.but(|file| (file.size, file.compressed) = (u32::MAX, u32::MAX))),
        named("good", plain.clone()),
    ];
    let (mia, path) = with_files(&app, &files).await;

    for lie in &files[..7] {
        let name = String::from_utf8_lossy(&lie.name).into_owned();
        assert_eq!(mia.get(&format!("{path}/{name}")).await.status, 404, "{name}");
    }
    assert_eq!(mia.get(&format!("{path}/good")).await.bytes, b"0123456789");
}

/// All that a server says to one request, until it closes the connection.
async fn heard(server: &Server, person: &Person<'_>, path: &str) -> Vec<u8> {
    let mut stream = TcpStream::connect(&server.address).await.expect("a server");
    let token = person.token.as_ref().map_or("", |token| token.reveal());
    let request = format!(
        "GET /api/v4{path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nPRIVATE-TOKEN: {token}\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).await.expect("the request is sent");
    let mut heard = Vec::new();
    let _reset = stream.read_to_end(&mut heard).await;
    heard
}

#[actix_web::test]
async fn a_file_that_is_other_than_its_checksum_breaks_off() {
    let app = TestApp::new();
    let (plain, packed) =
        (ZipMember::plain("a", b"0123456789"), ZipMember::deflated("b", &[b'x'; 1000]));
    let short = ZipMember { name: b"c".to_vec(), ..packed.but(|file| file.size += 1) };
    let files = [plain.but(|file| file.crc ^= 1), packed.but(|file| file.crc ^= 1), short];
    let (mia, path) = with_files(&app, &files).await;
    let server = app.serve();

    for (name, size) in [("a", 10), ("b", 1000), ("c", 1001)] {
        let heard = heard(&server, &mia, &format!("{path}/{name}")).await;
        let text = String::from_utf8_lossy(&heard);
        // What is wrong in its first block is known before anything is sent.
        let body = text.split_once("\r\n\r\n").map_or("", |(_head, body)| body);
        assert!(body.len() < size, "{name} came whole");
    }
}

#[actix_web::test]
async fn a_bomb_is_as_long_as_it_says_and_costs_a_block_at_a_time() {
    let app = TestApp::new();
    let size = 24 << 20;
    let bomb = ZipMember::deflated("bomb", &vec![0; size]);
    let many = (0..20_000).map(|index| ZipMember::plain(&format!("f/{index}"), b""));
    let files: Vec<ZipMember> = many.chain([bomb]).collect();
    let (mia, path) = with_files(&app, &files).await;

    let end =
        mia.sending("Range", &format!("bytes={}-", size - 2)).get(&format!("{path}/bomb")).await;
    assert_eq!((end.status, end.bytes), (206, vec![0, 0]));
    assert_eq!(mia.get(&format!("{path}/bomb")).await.bytes.len(), size);
    assert_eq!(mia.get(&format!("{path}/f/19999")).await.status, 200);
    mia.get(&format!("{path}/f/20000")).await.with(404);
}

#[actix_web::test]
async fn a_report_that_unpacks_to_too_much_is_read_to_its_bound() {
    let app = TestApp::new();
    let (project, mia, runner) = set_up(&app, ONE).await;
    let work = Work::new(&app, &runner.take().await);
    let mut packer = GzEncoder::new(Vec::new(), Compression::fast());
    let block = vec![b' '; 1 << 20];
    (0..70).for_each(|_| packer.write_all(&block).expect("memory"));
    let bomb = packer.finish().expect("memory");

    let dotenv = "?artifact_type=dotenv&artifact_format=gzip";
    let refusal = json!({ "message": "Dotenv Artifact Too Big. Maximum Allowable Size: 5120" });
    work.bring(dotenv, ".env.gz", &bomb).await.refused(400, refusal);
    work.bring("?artifact_type=junit&artifact_format=gzip", "r.xml.gz", &bomb).await.with(201);
    work.report(json!({ "state": "success" })).await.with(200);

    let newest = pipelines(&mia, project, "").await[0]["id"].clone();
    let summary = format!("/projects/{project}/pipelines/{newest}/test_report_summary");
    let suite = mia.get(&summary).await.ok()["test_suites"][0].clone();
    assert_eq!((&suite["total_count"], suite["suite_error"].is_string()), (&json!(0), true));
}

#[actix_web::test]
async fn a_name_ends_no_header() {
    let app = TestApp::new();
    let odd = "out/a\r\nSet-Cookie: x=1\".txt";
    let (project, mia, runner) = set_up(&app, ONE).await;
    let payload = runner.take().await;
    let work = Work::new(&app, &payload);
    let form = "--edge\r\nContent-Disposition: form-data; name=\"file\"; \
                filename=\"a\tb\\\"c.zip\"\r\n\r\n";
    let content = archive_of(&[ZipMember::plain(odd, b"one")]);
    let body = [form.as_bytes(), &content, b"\r\n--edge--\r\n"].concat();
    let place = format!("{}/artifacts", work.path);
    let kind = "multipart/form-data; boundary=edge";
    work.caller.send_bytes(actix_web::http::Method::POST, &place, kind, &body).await.with(201);

    let path = format!("/projects/{project}/jobs/{}/artifacts", payload["id"]);
    let names = |answer: &Answer| {
        assert_eq!(answer.status, 200);
        assert!(answer.header("Set-Cookie").is_none());
        answer.header("Content-Disposition").expect("a name").to_owned()
    };
    let whole = names(&mia.get(&path).await);
    assert_eq!(whole, "attachment; filename=\"abc.zip\"; filename*=UTF-8''abc.zip");
    let file = mia.get(&format!("{path}/out%2Fa%0D%0ASet-Cookie%3A%20x%3D1%22.txt")).await;
    let expected = "attachment; filename=\"a__Set-Cookie: x=1_.txt\"; \
                    filename*=UTF-8''a%0D%0ASet-Cookie%3A%20x%3D1%22.txt";
    assert_eq!(names(&file), expected);
}

/// The statuses of all doors to a file, by id and by ref; none of them shows what is behind.
async fn knock(caller: &Person<'_>, project: impl std::fmt::Display, job: &Value) -> Vec<u16> {
    let own = format!("/projects/{project}");
    let mut statuses = Vec::new();
    for path in [
        format!("{own}/jobs/{job}/artifacts"),
        format!("{own}/jobs/{job}/artifacts/out/a.txt"),
        format!("{own}/jobs/artifacts/main/download?job=job"),
        format!("{own}/jobs/artifacts/main/raw/out/a.txt?job=job"),
        format!("/jobs/{job}/artifacts"),
    ] {
        for caller in [caller.clone(), caller.sending("Range", "bytes=0-3")] {
            let answer = caller.get(&path).await;
            assert!(!answer.bytes.windows(6).any(|part| part == b"hidden"), "{path}");
            statuses.push(answer.status);
        }
    }
    statuses.dedup();
    statuses
}

#[actix_web::test]
async fn a_file_of_a_private_project_is_behind_no_other_door() {
    let app = TestApp::new();
    let (project, _, runner) = set_up(&app, ONE).await;
    let payload = runner.take().await;
    let work = Work::new(&app, &payload);
    let files = [ZipMember::plain("out/a.txt", b"hidden")];
    work.bring("", "artifacts.zip", &archive_of(&files)).await.with(201);
    work.report(json!({ "state": "success" })).await.with(200);
    let (eve, job) = (app.person("eve"), payload["id"].clone());
    let other = app.project(&eve, "other", Visibility::Public);
    commit(&eve, other, "main", "jobs", ONE).await;
    let theirs = Runner::of(&eve, other, json!({})).await.take().await;

    assert_eq!(knock(&app.anonymous(), project, &job).await, [404, 403]);
    assert_eq!(knock(&eve, project, &job).await, [404, 403]);
    assert_eq!(knock(&eve, other, &job).await, [404, 403], "by way of a project of one's own");
    let by_path = format!("{}%2Fone", "olga");
    assert_eq!(knock(&app.anonymous(), by_path, &job).await, [404, 403]);
    assert_eq!(knock(&Work::new(&app, &theirs).caller, project, &job).await, [404]);
    let gus = app.member(project, "gus", Guest);
    app.person("olga")
        .put(&format!("/projects/{project}"), json!({ "public_jobs": false }))
        .await
        .ok();
    assert_eq!(knock(&gus, project, &job).await, [403]);
}
