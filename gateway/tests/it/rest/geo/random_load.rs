//! After a random load the status of the primary is what disk and git say, asked in another way than it counts.

use std::{io::Write as _, panic::AssertUnwindSafe, path::Path, process::Command};

use actix_web::http::Method;
use db::checksum::refs::{self, RefHolder};
use flate2::{Compression, write::GzEncoder};
use futures_util::{FutureExt as _, StreamExt as _};
use kernel::ids::{NamespaceId, ProjectId};
use repo::git::Wiki;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::{primary, statuses::status};
use crate::{
    rest::runners::program::{Runner, Work},
    support::{
        Person, TestApp,
        ci::commit,
        uploads::{PICTURE, send_file},
    },
};

const STEPS: usize = 80;
/// What this variable holds repeats a run that failed.
const SEED: &str = "FORGEWAY_TEST_SEED";

struct Dice(u64);

impl Dice {
    fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        let most = u64::try_from(most.max(1)).expect("a few");
        usize::try_from((self.0 >> 11) % most).expect("a few")
    }
}

/// Who does things, and to what.
struct Load<'a> {
    app: &'a TestApp,
    ada: Person<'a>,
    dice: Dice,
    projects: Vec<ProjectId>,
    groups: [i64; 2],
    made: usize,
}

impl Load<'_> {
    fn some(&mut self) -> Option<ProjectId> {
        let at = self.dice.below(self.projects.len());
        self.projects.get(at).copied()
    }

    async fn step(&mut self) {
        self.made += 1;
        let deed = self.dice.below(16);
        let Some(project) = self.some() else { return self.create().await };
        match deed {
            0 | 1 => self.create().await,
            2 => self.remove(project).await,
            3 | 4 => self.commit(project).await,
            5 => self.drop_branch(project).await,
            6 => self.tag(project).await,
            7 => self.upload(project).await,
            8 => self.picture(project).await,
            9 => self.large_file(project).await,
            10 => self.page(project).await,
            11 => self.fork(project).await,
            12 | 13 => self.merge_request(project).await,
            14 => self.group_page().await,
            _ => self.artifact(project).await,
        }
    }

    async fn create(&mut self) {
        let new = json!({ "name": format!("p{}", self.made), "initialize_with_readme": true });
        let made = self.ada.post("/projects", new).await.created();
        self.projects.push(ProjectId(made["id"].as_i64().expect("an id")));
    }

    async fn remove(&mut self, project: ProjectId) {
        self.ada.delete(&format!("/projects/{project}")).await.with(202);
        self.projects.retain(|other| *other != project);
    }

    async fn commit(&mut self, project: ProjectId) {
        let branch = format!("b{}", self.dice.below(4));
        let path = format!("f{}", self.made);
        self.ada.commit(&json!(project), &branch, &path).await;
    }

    async fn drop_branch(&mut self, project: ProjectId) {
        let branch = format!("b{}", self.dice.below(4));
        let path = format!("/projects/{project}/repository/branches/{branch}");
        let answer = self.ada.delete(&path).await;
        assert!([204, 404].contains(&answer.status), "{}", answer.status);
    }

    async fn tag(&mut self, project: ProjectId) {
        let name = format!("t{}", self.dice.below(3));
        let tags = format!("/projects/{project}/repository/tags");
        let new = json!({ "tag_name": name, "ref": "main" });
        if self.ada.post(&tags, new).await.status != 201 {
            self.ada.delete(&format!("{tags}/{name}")).await.with(204);
        }
    }

    async fn upload(&mut self, project: ProjectId) {
        let (path, content) = (format!("/projects/{project}/uploads"), self.made.to_string());
        let sent = send_file(&self.ada, Method::POST, &path, "file", "a.txt", &content).await;
        sent.created();
    }

    async fn picture(&mut self, project: ProjectId) {
        let path = format!("/projects/{project}");
        if self.dice.below(3) == 0 {
            self.ada.put(&path, json!({ "avatar": "" })).await.ok();
            return;
        }
        let name = format!("face{}.png", self.dice.below(2));
        send_file(&self.ada, Method::PUT, &path, "avatar", &name, PICTURE).await.ok();
    }

    /// The same contents come to several projects.
    async fn large_file(&mut self, project: ProjectId) {
        let path = self.ada.get(&format!("/projects/{project}")).await.ok();
        let path = path["path_with_namespace"].as_str().expect("a path").to_owned();
        let content = vec![7; self.dice.below(5) + 1];
        let id = hex::encode(Sha256::digest(&content));
        let place = format!("//{path}.git/info/lfs/objects/{id}/{}", content.len());
        let kind = "application/octet-stream";
        let put = self.ada.send_bytes(Method::PUT, &place, kind, &content).await;
        assert_eq!(put.status, 200);
    }

    async fn page(&mut self, project: ProjectId) {
        let new = json!({ "title": format!("Page {}", self.made), "content": "x" });
        self.ada.post(&format!("/projects/{project}/wikis"), new).await.created();
    }

    async fn fork(&mut self, project: ProjectId) {
        let name = format!("f{}", self.made);
        let new = json!({ "name": name, "path": name });
        let made = self.ada.post(&format!("/projects/{project}/fork"), new).await.created();
        self.projects.push(ProjectId(made["id"].as_i64().expect("an id")));
    }

    /// One that is merged now and then.
    async fn merge_request(&mut self, project: ProjectId) {
        let (branch, path) = (format!("m{}", self.made), format!("f{}", self.made));
        self.ada.commit(&json!(project), &branch, &path).await;
        let requests = format!("/projects/{project}/merge_requests");
        let new = json!({ "source_branch": branch, "target_branch": "main", "title": path });
        let made = self.ada.post(&requests, new).await.created();
        if self.dice.below(2) == 0 {
            let path = format!("{requests}/{}/merge", made["iid"]);
            self.ada.put(&path, json!({ "should_remove_source_branch": true })).await.ok();
        }
    }

    async fn group_page(&mut self) {
        let group = self.groups[self.dice.below(self.groups.len())];
        let new = json!({ "title": format!("Page {}", self.made), "content": "x" });
        self.ada.post(&format!("/groups/{group}/wikis"), new).await.created();
    }

    async fn artifact(&mut self, project: ProjectId) {
        let text = format!("# {}\njob: {{script: x, artifacts: {{paths: [out]}}}}\n", self.made);
        commit(&self.ada, project, "main", "jobs", &text).await;
        let runner = Runner::of(&self.ada, project, json!({})).await;
        let work = Work::new(self.app, &runner.take().await);
        let mut packer = GzEncoder::new(Vec::new(), Compression::fast());
        packer.write_all(b"<testsuites/>").expect("memory");
        let packed = packer.finish().expect("memory");
        let query = "?artifact_type=junit&artifact_format=gzip";
        work.bring(query, "junit.xml.gz", &packed).await.with(201);
        work.report(json!({ "state": "success" })).await.with(200);
    }
}

/// The sum of all refs that count, as git lists them.
fn sum_by_git(folder: &Path) -> String {
    let listed = Command::new("git")
        .arg("--git-dir")
        .arg(folder)
        .args(["for-each-ref", "--format=%(objectname) %(refname)"])
        .output()
        .expect("git runs");
    let mut sum = [0_u8; 32];
    for line in String::from_utf8(listed.stdout).expect("text").lines() {
        let name = line.split(' ').nth(1).expect("a name");
        let is_test_merge = name.starts_with("refs/merge-requests/") && name.ends_with("/merge");
        if !name.starts_with("refs/pipelines/") && !is_test_merge {
            sum.iter_mut().zip(Sha256::digest(line)).for_each(|(part, byte)| *part ^= byte);
        }
    }
    hex::encode(sum)
}

/// The files of all kinds of storage.
async fn files(app: &TestApp) -> [usize; 3] {
    let (uploads, avatars) = (app.state.uploads.list(""), app.state.avatars.list(""));
    let artifacts = app.state.artifacts.list("").count().await;
    let lfs = app.state.lfs.objects().list("").count().await;
    [uploads.count().await + avatars.count().await, artifacts, lfs]
}

fn kept_sum(app: &TestApp, place: RefHolder) -> Option<String> {
    let kept = app.state.db.read_blocking(|tx| refs::find(tx, place)).expect("rows are read")?;
    assert!(kept.counted, "{place}");
    Some(kept.sum.to_string())
}

#[actix_web::test]
async fn figures_after_a_random_load_are_what_disk_and_git_say() {
    let given = std::env::var_os(SEED).and_then(|text| text.into_string().ok()?.parse().ok());
    let seed = given.unwrap_or_else(rand::random::<u64>) | 1;

    let done = AssertUnwindSafe(load_and_compare(seed)).catch_unwind().await;

    assert!(done.is_ok(), "{SEED}={seed} repeats what failed above");
}

async fn load_and_compare(seed: u64) {
    let app = TestApp::new();
    let id = primary(&app).await["id"].clone();
    let ada = app.person("ada");
    let groups = [ada.group("wheels", None).await, ada.group("cogs", None).await];
    let mut load = Load { app: &app, ada, dice: Dice(seed), projects: Vec::new(), groups, made: 0 };
    for _ in 0..STEPS {
        load.step().await;
    }
    while app.work().await > 0 {}
    compare_files(&app, load.projects.len(), &status(&app, &id).await).await;
    // The refs of wikis and forks are counted by the first check of them.
    app.recurring().await;
    let shown = status(&app, &id).await;
    compare_refs(&app, &load.projects, &shown);
    compare_group_wikis(&app, load.groups, &shown);
}

fn assert_figures(shown: &Value, expected: &Value) {
    for (name, value) in expected.as_object().expect("an object") {
        assert_eq!(&shown[name], value, "{name}");
    }
}

async fn compare_files(app: &TestApp, projects: usize, shown: &Value) {
    let [uploads, artifacts, lfs] = files(app).await;
    let expected = json!({
        "projects_count": projects, "repositories_count": projects,
        "project_repositories_count": projects,
        "uploads_count": uploads, "uploads_checksummed_count": uploads,
        "job_artifacts_count": artifacts, "job_artifacts_checksummed_count": artifacts,
        "lfs_objects_count": lfs, "lfs_objects_checksummed_count": lfs,
    });
    assert_figures(shown, &expected);
}

fn compare_group_wikis(app: &TestApp, groups: [i64; 2], shown: &Value) {
    let storage = &app.state.storage;
    let mut wikis = 0;
    for group in groups.map(NamespaceId) {
        let kept = kept_sum(app, RefHolder::GroupWiki(group));
        assert_eq!(kept.is_some(), storage.wiki_exists(Wiki::Group(group)), "{group}");
        if let Some(kept) = kept {
            wikis += 1;
            assert_eq!(kept, sum_by_git(storage.wiki(Wiki::Group(group)).as_path()), "{group}");
        }
    }
    let expected = json!({
        "group_wiki_repositories_count": wikis, "group_wiki_repositories_checksummed_count": wikis,
        "group_wiki_repositories_checksum_failed_count": 0,
    });
    assert_figures(shown, &expected);
}

fn compare_refs(app: &TestApp, projects: &[ProjectId], shown: &Value) {
    let storage = &app.state.storage;
    let mut wikis = 0;
    for project in projects {
        let folder = storage.repository(*project);
        let kept = kept_sum(app, RefHolder::Repository(*project));
        assert_eq!(kept, Some(sum_by_git(folder.as_path())), "{project}");
        let wiki = Wiki::Project(*project);
        let kept = kept_sum(app, RefHolder::ProjectWiki(*project));
        assert_eq!(kept.is_some(), storage.wiki_exists(wiki), "{project}");
        if let Some(kept) = kept {
            wikis += 1;
            assert_eq!(kept, sum_by_git(storage.wiki(wiki).as_path()), "{project}");
        }
    }
    let expected = json!({
        "repositories_checksummed_count": projects.len(), "wikis_count": wikis,
        "project_wiki_repositories_count": wikis, "wikis_checksummed_count": wikis,
        "repositories_checksum_failed_count": 0, "wikis_checksum_failed_count": 0,
        "uploads_checksum_failed_count": 0, "job_artifacts_checksum_failed_count": 0,
        "lfs_objects_checksum_failed_count": 0,
    });
    assert_figures(shown, &expected);
}
