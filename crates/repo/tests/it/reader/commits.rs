//! Commits as records.

use forgeway_repo::{
    git::{GitError, Oid},
    testing::Fixture,
};

use super::{text, told};

#[test]
fn every_field_is_what_git_prints() {
    for fixture in told() {
        let reader = fixture.reader();
        let format = "--format=%H%x00%P%x00%T%x00%an%x00%ae%x00%at%x00%cn%x00%ce%x00%ct%x00%B%x01";
        let output = text(&fixture.git(&["log", "--all", format]));
        for record in output.split('\u{1}').map(str::trim_start).filter(|record| !record.is_empty())
        {
            let fields: Vec<&str> = record.split('\0').collect();
            let commit = reader.commit(fields[0].parse().unwrap()).unwrap();
            let parents: Vec<String> = commit.parents.iter().map(ToString::to_string).collect();
            let author = &commit.author;
            let committer = &commit.committer;
            assert_eq!(parents.join(" "), fields[1]);
            assert_eq!(commit.tree.to_string(), fields[2]);
            assert_eq!((author.name.as_str(), author.email.as_str()), (fields[3], fields[4]));
            assert_eq!(author.at.to_string(), fields[5]);
            assert_eq!((committer.name.as_str(), committer.email.as_str()), (fields[6], fields[7]));
            assert_eq!(committer.at.to_string(), fields[8]);
            assert_eq!((author.offset, committer.offset), (7200, -12600));
            assert_eq!(commit.message.trim_end(), fields[9].trim_end());
            assert_eq!(commit.title, fields[9].lines().next().unwrap_or_default());
            assert_eq!(commit.is_merge(), fields[1].contains(' '));
        }
    }
}

#[test]
fn trailers_are_those_of_git() {
    let fixture = Fixture::new();
    let reader = fixture.reader();
    for id in fixture.lines(&["rev-list", "--all"]) {
        let expected = fixture.lines(&["show", "-s", "--format=%(trailers:only,unfold)", &id]);
        let commit = reader.commit(id.parse().unwrap()).unwrap();
        let found: Vec<String> =
            commit.trailers.iter().map(|(key, value)| format!("{key}: {value}")).collect();
        let expected: Vec<String> = expected.into_iter().filter(|line| !line.is_empty()).collect();
        assert_eq!(found, expected, "{id}");
    }
}

/// Writes a commit object as it is.
fn write(fixture: &Fixture, raw: &[u8]) -> Oid {
    let output =
        fixture.git_with(&["hash-object", "-t", "commit", "-w", "--stdin", "--literally"], raw);
    text(&output).trim().parse().unwrap()
}

#[test]
fn a_signature_and_what_was_signed_come_apart() {
    let fixture = Fixture::new();
    let reader = fixture.reader();
    let head = "tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904\nauthor A <a@x> 1 +0000\ncommitter A <a@x> 1 +0000\n";
    let signature = "-----BEGIN PGP SIGNATURE-----\n\nabc\n-----END PGP SIGNATURE-----\n";
    let header = format!("gpgsig {}\n", signature.trim_end().replace('\n', "\n "));
    let raw = format!("{head}{header}encoding UTF-8\n\nTitle\n\ngpgsig not a header\n");

    let found = reader.signature(write(&fixture, raw.as_bytes())).unwrap().unwrap();

    assert_eq!(found.signature, signature);
    assert_eq!(found.payload, format!("{head}encoding UTF-8\n\nTitle\n\ngpgsig not a header\n"));
    assert_eq!(reader.signature(fixture.id("main")).unwrap(), None);
    let tag: Oid = fixture.lines(&["rev-parse", "v1.0"]).remove(0).parse().unwrap();
    assert_eq!(reader.signature(tag).unwrap(), None);
}

#[test]
fn a_signed_tag_ends_in_its_signature() {
    let fixture = Fixture::new();
    let payload = format!(
        "object {}\ntype commit\ntag s\ntagger A <a@x> 1 +0000\n\nText\n",
        fixture.id("main")
    );
    let signature = "-----BEGIN SSH SIGNATURE-----\nabc\n-----END SSH SIGNATURE-----\n";
    let raw = format!("{payload}{signature}");
    let output = fixture.git_with(&["hash-object", "-t", "tag", "-w", "--stdin"], raw.as_bytes());

    let found = fixture.reader().signature(text(&output).trim().parse().unwrap()).unwrap().unwrap();

    assert_eq!(
        (found.signature.to_string(), found.payload.to_string()),
        (signature.to_owned(), payload)
    );
}

#[test]
fn old_and_broken_commits_can_be_read() {
    let fixture = Fixture::new();
    let reader = fixture.reader();
    let tree = "tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904\n";
    let latin = [tree.as_bytes(), b"author J\xfcrgen <j@x> 1 +0000\ncommitter J\xfcrgen <j@x> 1 +0000\nencoding ISO-8859-1\n\nGr\xfc\xdfe\n"].concat();
    let bytes =
        [tree.as_bytes(), b"author J\xfcrgen <j@x> 1 +0000\ncommitter J <j@x> 1 +0000\n\nGr\xfc\n"]
            .concat();
    let empty =
        [tree.as_bytes(), b"author A <a@x> 1 +0000\ncommitter A <a@x> 1 +0000\n\n"].concat();

    let latin = reader.commit(write(&fixture, &latin)).unwrap();
    let bytes = reader.commit(write(&fixture, &bytes)).unwrap();
    let empty = reader.commit(write(&fixture, &empty)).unwrap();

    assert_eq!((latin.author.name.as_str(), latin.title.as_str()), ("Jürgen", "Grüße"));
    assert_eq!((bytes.author.name.as_str(), bytes.title.as_str()), ("J\u{fffd}rgen", "Gr\u{fffd}"));
    assert_eq!((empty.title.as_str(), empty.message.as_str()), ("", ""));
}

#[test]
fn only_commits_are_commits() {
    let fixture = Fixture::new();
    let reader = fixture.reader();
    let tree: Oid = fixture.lines(&["rev-parse", "main^{tree}"]).remove(0).parse().unwrap();

    assert!(reader.is_commit(fixture.id("main")).unwrap());
    assert!(!reader.is_commit(tree).unwrap());
    assert!(!reader.is_commit(Oid::NULL).unwrap());
    assert!(matches!(reader.commit(tree), Err(GitError::NotFound)));
    assert!(matches!(reader.commit(Oid::NULL), Err(GitError::NotFound)));
}
