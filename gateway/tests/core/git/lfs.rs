//! Large files, by the protocol that `git lfs` speaks.

use actix_web::http::Method;
use kernel::{
    AccessLevel::{Developer, Reporter},
    Visibility,
};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::Forge;
use crate::support::{Answer, Person};

const BASE: &str = "//alice/work.git/info/lfs/objects";

fn name(content: &[u8]) -> String {
    hex::encode(Sha256::digest(content))
}

async fn batch(person: &Person<'_>, operation: &str, content: &[u8]) -> Answer {
    let objects = json!([{ "oid": name(content), "size": content.len() }]);
    let question = json!({ "operation": operation, "transfers": ["basic"], "objects": objects });
    person.post(&format!("{BASE}/batch"), question).await
}

async fn put(person: &Person<'_>, id: &str, size: usize, content: &[u8]) -> Answer {
    let path = format!("{BASE}/{id}/{size}");
    person.send_bytes(Method::PUT, &path, "application/octet-stream", content).await
}

fn offered(answer: Answer) -> Value {
    assert_eq!(answer.header("Content-Type"), Some("application/vnd.git-lfs+json"));
    answer.ok()["objects"][0].clone()
}

/// How many files lie where large files lie, drafts included.
fn files(forge: &Forge) -> usize {
    fn below(folder: &std::path::Path) -> usize {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        entries.map(|entry| if entry.path().is_dir() { below(&entry.path()) } else { 1 }).sum()
    }
    below(&forge.app.state.data().join("lfs"))
}

#[actix_web::test]
async fn a_file_is_brought_once_and_fetched_again() {
    let forge = Forge::new();
    let alice = forge.app.person("alice");
    let content = vec![7; 3_000_000];
    let id = name(&content);
    let asked = offered(batch(&alice, "upload", &content).await);
    let href = format!("http://forge.test/alice/work.git/info/lfs/objects/{id}");
    assert_eq!(asked["actions"]["upload"]["href"], format!("{href}/3000000"));

    assert_eq!(put(&alice, &id, content.len(), &content).await.status, 200);

    assert_eq!(offered(batch(&alice, "upload", &content).await)["actions"], Value::Null);
    let asked = offered(batch(&alice, "download", &content).await);
    assert_eq!(asked["actions"]["download"]["href"], href);
    let fetched = alice.get(&format!("{BASE}/{id}")).await;
    assert_eq!((fetched.status, fetched.bytes == content), (200, true));
    assert_eq!(fetched.header("Content-Length"), Some("3000000"));
    let project = alice.get(&format!("/projects/{}?statistics=true", forge.project)).await.ok();
    assert_eq!(project["statistics"]["lfs_objects_size"], 3_000_000);
    assert_eq!(files(&forge), 1);
}

#[actix_web::test]
async fn a_credential_is_passed_on_for_the_file_itself() {
    let forge = Forge::new();
    let token = super::forge::secret(&forge.app.person("alice"));
    let nobody = forge.app.anonymous();
    let shown = nobody.sending("Authorization", &format!("Bearer {token}"));

    let asked = offered(batch(&shown, "upload", b"x").await);

    let header = &asked["actions"]["upload"]["header"];
    assert_eq!(header["Authorization"], format!("Bearer {token}"));
}

#[actix_web::test]
async fn a_content_that_is_not_what_was_promised_is_not_kept() {
    let forge = Forge::new();
    let alice = forge.app.person("alice");
    let id = name(b"right");
    let told = json!({ "message": "The content is not what its name and size say." });

    for (size, content) in [(5, &b"wrong"[..]), (5, b"righ"), (5, b"right and more"), (4, b"right")]
    {
        put(&alice, &id, size, content).await.refused(422, told.clone());
    }

    assert_eq!(files(&forge), 0);
    let asked = offered(batch(&alice, "download", b"right").await);
    assert_eq!((&asked["error"]["code"], &asked["actions"]), (&json!(404), &Value::Null));
    assert_eq!(alice.get(&format!("{BASE}/{id}")).await.status, 404);
}

#[actix_web::test]
async fn those_who_read_fetch_and_those_who_push_bring() {
    let forge = Forge::new();
    let alice = forge.app.person("alice");
    let reader = forge.app.member(forge.project, "rita", Reporter);
    let writer = forge.app.member(forge.project, "dan", Developer);
    let id = name(b"x");

    assert_eq!(batch(&reader, "upload", b"x").await.status, 403);
    assert_eq!(put(&reader, &id, 1, b"x").await.status, 403);
    assert_eq!(put(&writer, &id, 1, b"x").await.status, 200);
    assert_eq!(alice.get(&format!("{BASE}/{id}")).await.bytes, b"x");
    assert_eq!(reader.get(&format!("{BASE}/{id}")).await.bytes, b"x");
    let nobody = forge.app.anonymous();
    let asked = batch(&nobody, "download", b"x").await;
    assert_eq!(asked.header("LFS-Authenticate"), Some("Basic realm=\"GitLab\""));
    assert_eq!(asked.status, 401);
    let stranger = forge.app.person("zoe");
    for answer in [
        batch(&stranger, "download", b"x").await,
        stranger.get(&format!("{BASE}/{id}")).await,
        stranger.get(&format!("//alice/nothing.git/info/lfs/objects/{id}")).await,
    ] {
        let text = "There is no such project, or you may not see it.";
        answer.refused(404, json!({ "message": text }));
    }
}

#[actix_web::test]
async fn knowing_a_name_is_not_having_the_file() {
    let forge = Forge::new();
    let alice = forge.app.person("alice");
    let bob = forge.app.person("bob");
    forge.app.project(&bob, "own", Visibility::Public);
    put(&alice, &name(b"secret"), 6, b"secret").await.ok();

    let path = format!("//bob/own.git/info/lfs/objects/{}", name(b"secret"));
    assert_eq!(bob.get(&path).await.status, 404);
    let objects = json!([{ "oid": name(b"secret"), "size": 6 }]);
    let question = json!({ "operation": "upload", "objects": objects });
    let asked = bob.post("//bob/own.git/info/lfs/objects/batch", question).await;
    assert!(offered(asked)["actions"]["upload"].is_object(), "it must be brought all the same");
}

#[actix_web::test]
async fn questions_that_make_no_sense_are_refused() {
    let forge = Forge::new();
    let alice = forge.app.person("alice");
    let path = format!("{BASE}/batch");
    let one = json!([{ "oid": name(b"x"), "size": 1 }]);
    for question in [
        json!([]),
        json!({ "operation": "upload" }),
        json!({ "operation": "delete", "objects": one }),
        json!({ "operation": "upload", "objects": one, "transfers": ["tus"] }),
        json!({ "operation": "upload", "objects": "x" }),
    ] {
        assert_eq!(alice.post(&path, question).await.status, 422);
    }
    let wrong = json!([{ "oid": "../../x", "size": 1 }, { "oid": name(b"x"), "size": -1 }]);
    let told = alice.post(&path, json!({ "operation": "upload", "objects": wrong })).await.ok();
    assert_eq!(told["objects"][0]["error"]["code"], 422);
    assert_eq!(told["objects"][1]["error"]["code"], 422);
    assert_eq!(alice.get(&path).await.status, 405);
    assert_eq!(alice.get(&format!("{BASE}/{}", "A".repeat(64))).await.status, 404);
}

#[actix_web::test]
async fn a_project_without_large_files_takes_none() {
    let forge = Forge::new();
    let alice = forge.app.person("alice");
    let path = format!("/projects/{}", forge.project);
    alice.put(&path, json!({ "lfs_enabled": false })).await.ok();

    let told = json!({ "message": "Access forbidden. Check your access level." });
    batch(&alice, "upload", b"x").await.refused(403, told.clone());
    put(&alice, &name(b"x"), 1, b"x").await.refused(403, told);
}

#[actix_web::test]
async fn raw_files_are_pointers_unless_the_file_itself_is_wanted() {
    let forge = Forge::new();
    let alice = forge.app.person("alice");
    let pointer = |content: &[u8]| {
        let (id, size) = (name(content), content.len());
        format!("version https://git-lfs.github.com/spec/v1\noid sha256:{id}\nsize {size}\n")
    };
    let path = format!("/projects/{}/repository/files", forge.project);
    for (file, content) in [("big", pointer(b"large")), ("lost", pointer(b"never came"))] {
        let body = json!({ "branch": "main", "commit_message": "x", "content": content });
        alice.post(&format!("{path}/{file}"), body).await.created();
    }
    put(&alice, &name(b"large"), 5, b"large").await.ok();

    let raw = alice.get(&format!("{path}/big/raw?ref=main")).await;
    assert_eq!(String::from_utf8_lossy(&raw.bytes), pointer(b"large"));
    let raw = alice.get(&format!("{path}/big/raw?ref=main&lfs=true")).await;
    assert_eq!((raw.status, raw.bytes.as_slice()), (200, &b"large"[..]));
    let lost = json!({ "message": "404 Not Found" });
    alice.get(&format!("{path}/lost/raw?ref=main&lfs=true")).await.refused(404, lost);
}

#[actix_web::test]
async fn a_fork_has_the_large_files_of_its_source() {
    let forge = Forge::of(Visibility::Public);
    let alice = forge.app.person("alice");
    put(&alice, &name(b"large"), 5, b"large").await.ok();
    let bob = forge.app.person("bob");

    bob.post(&format!("/projects/{}/fork", forge.project), json!({})).await.created();

    let path = format!("//bob/work.git/info/lfs/objects/{}", name(b"large"));
    assert_eq!(bob.get(&path).await.bytes, b"large");
    let fork = bob.get("/projects/bob%2Fwork?statistics=true").await.ok();
    assert_eq!(fork["statistics"]["lfs_objects_size"], 5);
}

#[actix_web::test]
async fn only_contents_that_nobody_has_are_swept_away() {
    let forge = Forge::new();
    let alice = forge.app.person("alice");
    put(&alice, &name(b"kept"), 4, b"kept").await.ok();
    let root = forge.app.state.data().join("lfs");
    let old = |id: &str| {
        let folder = root.join(&id[..2]).join(&id[2..4]);
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join(id);
        let file = std::fs::OpenOptions::new().create(true).append(true).open(&path).unwrap();
        let ago = std::time::Duration::from_secs(48 * 3600);
        let now = file.metadata().unwrap().modified().unwrap();
        file.set_modified(now.checked_sub(ago).unwrap()).unwrap();
        path
    };
    let (kept, orphan) = (old(&name(b"kept")), old(&name(b"orphan")));

    let state = &forge.app.state;
    repo::jobs::SweepLfs {}.run(&state.db, &state.lfs).await.unwrap();

    assert!(kept.is_file() && !orphan.exists());
}

#[actix_web::test]
async fn archives_hold_the_files_that_the_project_has_instead_of_pointers() {
    let forge = Forge::new();
    let alice = forge.app.person("alice");
    let content = vec![b'x'; 100_000];
    put(&alice, &name(&content), content.len(), &content).await.ok();
    let pointer = |content: &[u8]| {
        let (id, size) = (name(content), content.len());
        format!("version https://git-lfs.github.com/spec/v1\noid sha256:{id}\nsize {size}\n")
    };
    let files = [
        (".gitattributes", "*.bin filter=lfs\n".to_owned()),
        ("a.bin", pointer(&content)),
        ("lost.bin", pointer(b"lost")),
        ("a.txt", pointer(&content)),
    ];
    let create =
        |(path, content)| json!({ "action": "create", "file_path": path, "content": content });
    let actions: Vec<Value> = files.clone().into_iter().map(create).collect();
    let repository = format!("/projects/{}/repository", forge.project);
    let commit = json!({ "branch": "main", "commit_message": "Add", "actions": actions });
    alice.post(&format!("{repository}/commits"), commit).await.created();

    let full = alice.get(&format!("{repository}/archive.tar")).await.bytes;
    let bare = alice.get(&format!("{repository}/archive.tar?include_lfs_blobs=false")).await.bytes;

    let [_, (_, a), (_, lost), _] = files.map(|(path, text)| (path, text.into_bytes()));
    assert_eq!(unpacked(&full), [a.clone(), content, lost.clone()]);
    assert_eq!(unpacked(&bare), [a.clone(), a, lost]);
}

/// What `a.txt`, `a.bin` and `lost.bin` are in an archive.
fn unpacked(archive: &[u8]) -> [Vec<u8>; 3] {
    let folder = tempfile::tempdir().expect("a folder");
    tar::Archive::new(archive).unpack(folder.path()).expect("an archive");
    let top = std::fs::read_dir(folder.path()).expect("a folder").next().expect("a top folder");
    let top = top.expect("readable").path();
    ["a.txt", "a.bin", "lost.bin"].map(|name| std::fs::read(top.join(name)).expect("a file"))
}
