//! Blame.

use std::collections::HashMap;

use actix_web::HttpResponse;
use bytes::Bytes;
use entities::repo::blame::{BlameEntity, BlamedCommitEntity};
use kernel::{Error, Result};
use repo::{
    commit::{
        FileQuery,
        blame::{self, lines_of},
    },
    git::{
        Oid, Reader,
        blame::{Blame, LineRange},
    },
    policy::ReadFiles,
};
use serde_json::{Value, json};

use super::{
    blame_lines::streamed,
    files::{find, open},
};
use crate::{
    app::App,
    error::ApiResult,
    extract::{
        Call, FilePath, NonEmpty, Param, ParamErrors, Raw,
        params::{EMPTY, INVALID, MISSING, NOT_LISTED},
    },
    file_headers::headers,
    params,
    present::{Custom, Either, Json, WithHeaders, head_alone},
    routes,
};

routes! { "Repository files" at "/projects/{id}/repository/files", also [ReadRepository];
    GET "/{file_path}/blame" => show : ReadFiles,
}

const UPSIDE_DOWN: &str = "range[start] must be less than or equal to range[end]";

/// First and last line, both from 1 on; needed together.
#[derive(Clone, Copy, Debug)]
pub struct Lines {
    start: i64,
    end: i64,
}

impl Param for Lines {
    fn read(raw: &Raw) -> std::result::Result<Option<Self>, ParamErrors> {
        let Raw::Map(map) = raw else {
            return if matches!(raw, Raw::Null) {
                Ok(None)
            } else {
                Err(ParamErrors::one(INVALID))
            };
        };
        let mut flaws = ParamErrors::default();
        let mut side = |name: &str| {
            let path = format!("[{name}]");
            let Some(given) = map.get(name) else {
                flaws.add(&path, MISSING);
                flaws.add(&path, EMPTY);
                return None;
            };
            let flaw = match i64::read(given) {
                Ok(Some(line)) if line > 0 => return Some(line),
                Ok(Some(_)) => NOT_LISTED,
                Ok(None) => EMPTY,
                Err(_) => INVALID,
            };
            flaws.add(&path, flaw);
            None
        };
        match (side("start"), side("end")) {
            (Some(start), Some(end)) => Ok(Some(Self { start, end })),
            _ => Err(flaws),
        }
    }

    fn schema() -> Value {
        let line = json!({ "type": "integer", "minimum": 1 });
        json!({ "type": "object", "properties": { "start": line, "end": line }, "required": ["start", "end"] })
    }
}

impl From<Lines> for LineRange {
    fn from(lines: Lines) -> Self {
        let line = |number: i64| u32::try_from(number).unwrap_or(u32::MAX);
        Self { first: line(lines.start), last: line(lines.end) }
    }
}

params! {
    pub struct BlamedFile {
        file_path: FilePath,
        /// Branch, tag or commit SHA.
        r#ref: NonEmpty,
        range: Option<Lines>,
    }
}

/// Documented as records; their text is kept, and a long one is sent while it is written. Whoever asks for the head alone
/// is told no length and no tag of a body that nobody worked out.
type BlameAnswer = Either<WithHeaders<Json<Vec<BlameEntity>>>, WithHeaders<Custom>>;

async fn show(app: App, call: Call<ReadFiles, BlamedFile>) -> ApiResult<BlameAnswer> {
    let is_head = call.is_method("HEAD");
    let BlamedFile { file_path, r#ref, range } = call.params;
    if range.is_some_and(|lines| lines.start > lines.end) {
        return Err(Error::bad_request().whole(UPSIDE_DOWN).into());
    }
    let query = FileQuery { ref_name: r#ref.0, path: file_path.lookup() };
    let (facts, checksum) = find(&app, &call.grant, query.clone()).await?;
    let headers = headers(&facts, &checksum, &query.ref_name);
    if is_head {
        let mut head = HttpResponse::Ok();
        head.content_type("application/json");
        return Ok(Either::Right(WithHeaders { body: Custom(head_alone(head)), headers }));
    }
    let (project, path) = (call.grant.project(), &facts.entry.path);
    let repo = app.storage.repository(project);
    let lines = range.map(LineRange::from);
    let mut response = HttpResponse::Ok();
    response.content_type("application/json");
    if let Some(text) = app.answers.blame_text(facts.commit, path, lines) {
        return Ok(Either::Right(WithHeaders { body: Custom(response.body(text)), headers }));
    }
    let blame = blame::of_file(&app.git, &repo, &app.answers, facts.commit, path, lines).await?;
    if let Some(content) = facts.content.clone() {
        let read = app.git_read(project, move |reader| {
            let text = serde_json::to_vec(&entities(reader, &blame, &content)?);
            Ok(Bytes::from(text.map_err(Error::internal)?))
        });
        let text = read.await?;
        app.answers.keep_blame_text(facts.commit, path, lines, &text);
        return Ok(Either::Right(WithHeaders { body: Custom(response.body(text)), headers }));
    }
    let content = open(&app, &call.grant, &facts).await?;
    let body = Custom(response.streaming(streamed(app.clone(), project, blame, content)));
    Ok(Either::Right(WithHeaders { body, headers }))
}

fn entities(reader: &Reader, blame: &Blame, content: &[u8]) -> Result<Vec<BlameEntity>> {
    let count = |lines: u32| usize::try_from(lines).unwrap_or(usize::MAX);
    let mut lines = lines_of(content).skip(count(blame.skipped));
    let mut commits: HashMap<Oid, BlamedCommitEntity> = HashMap::new();
    let mut shown = Vec::with_capacity(blame.spans.len());
    for span in &blame.spans {
        let commit = match commits.get(&span.commit) {
            Some(known) => known.clone(),
            None => BlamedCommitEntity::from(&reader.commit(span.commit)?),
        };
        commits.insert(span.commit, commit.clone());
        let own = lines.by_ref().take(count(span.lines));
        let lines = own.map(|line| String::from_utf8_lossy(line).into_owned()).collect();
        shown.push(BlameEntity { commit, lines });
    }
    Ok(shown)
}
