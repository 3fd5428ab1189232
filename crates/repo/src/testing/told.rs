//! The history that most tests read.

use super::history::{Entry, History};

const SOURCE: &str = "\
#include <stdio.h>

static int first(void)
{
	int a = 1;
	int b = 2;
	int c = 3;
	return a + b + c;
}

static int second(void)
{
	int d = 4;
	int e = 5;
	int f = 6;
	return d + e + f;
}

int main(void)
{
	printf(\"%d\\n\", first() + second());
	return 0;
}
";

/// Merges (also criss-cross), renames with and without edits, deleted and re-created paths, modes, links, a
/// submodule, binary and unfinished files, names that are not UTF-8, trailers, both kinds of tags, equal dates.
#[expect(clippy::too_many_lines, reason = "it is one table")]
pub(super) fn history() -> History {
    let mut history = History::new();
    let file = Entry::file;
    let start = 1_600_000_000;
    let root = history.commit(
        "main",
        start,
        "Start\n",
        &[],
        &[
            file("README.md", "# Forge\n"),
            file("src/main.c", SOURCE),
            file("docs/a.txt", "a\n"),
            file("docs/b.txt", "b\n"),
        ],
    );
    let edited = SOURCE.replace("d = 4", "d = 40").replace("a = 1", "a = 10");
    let edit = history.commit(
        "main",
        start + 100,
        "Change two functions\n\nA body\nof two lines.\n\nSigned-off-by: Ada <ada@example.com>\nReviewed-by: Grace\nReviewed-by: Jürgen\n",
        &[root],
        &[file("src/main.c", &edited)],
    );
    let topic = history.commit(
        "topic",
        start + 100,
        "Add a topic",
        &[root],
        &[
            file("topic.txt", "one\ntwo\nthree\n"),
            Entry::Link(b"link".to_vec(), b"README.md".to_vec()),
        ],
    );
    let renamed = history.commit(
        "main",
        start + 200,
        "Rename and edit\n",
        &[edit],
        &[
            Entry::rename("src/main.c", "lib/program.c"),
            Entry::rename("docs/a.txt", "docs/c.txt"),
            Entry::delete("docs/b.txt"),
        ],
    );
    let edited = format!("{}\n/* the end */", edited.replace("e = 5", "e = 50"));
    let edited = history.commit(
        "main",
        start + 300,
        "Edit the renamed\n",
        &[renamed],
        &[file("lib/program.c", &edited)],
    );
    let merge = history.commit(
        "main",
        start + 400,
        "Merge branch 'topic'\n",
        &[edited, topic],
        &[
            file("topic.txt", "one\ntwo\nthree\n"),
            Entry::Link(b"link".to_vec(), b"README.md".to_vec()),
        ],
    );
    let topic = history.commit(
        "topic",
        start + 350,
        "Go on with the topic\n",
        &[topic],
        &[file("topic.txt", "one\n2\nthree\nfour")],
    );
    let crossed = history.commit(
        "topic",
        start + 450,
        "Merge branch 'main' into topic\n",
        &[topic, edited],
        &[],
    );
    let other = history.commit(
        "main",
        start + 450,
        "Merge the topic again\n",
        &[merge, topic],
        &[file("topic.txt", "one\n2\nthree\nfour")],
    );
    let odd = history.commit(
        "main",
        start + 500,
        "Add odd files\n",
        &[other],
        &[
            Entry::File(b"caf\xe9.txt".to_vec(), b"latin\n".to_vec()),
            file("ünï cödé/\"quoted\" name.txt", "x\n"),
            Entry::File(b"image.bin".to_vec(), b"\x00\x01\x02binary\n".to_vec()),
            Entry::Executable(b"run.sh".to_vec(), b"#!/bin/sh\r\necho hi\r\n".to_vec()),
            Entry::Submodule(
                b"module".to_vec(),
                "1234567890123456789012345678901234567890".to_owned(),
            ),
            file("docs/b.txt", "b is back\n"),
            file("empty", ""),
            file("LICENSE", "All rights reserved.\n"),
        ],
    );
    let modes = history.commit(
        "main",
        start + 600,
        "Change modes and kinds\n",
        &[odd],
        &[
            Entry::Executable(b"topic.txt".to_vec(), b"one\n2\nthree\nfour".to_vec()),
            Entry::File(b"link".to_vec(), b"no link any more\n".to_vec()),
            Entry::File(b"image.bin".to_vec(), b"\x00\x01\x02other\n".to_vec()),
            Entry::Submodule(
                b"module".to_vec(),
                "ffffffffff123456789012345678901234567890".to_owned(),
            ),
            Entry::File(b"docs/b.txt".to_vec(), b"b is back".to_vec()),
            Entry::delete("ünï cödé/\"quoted\" name.txt"),
            file("empty", "no more\n"),
            file("lib.c", "int x;\n"),
        ],
    );
    let both = history.commit("main", start + 600, "Merge the crossed\n", &[modes, crossed], &[]);
    let octopus_a =
        history.commit("a/one", start + 610, "Octopus one\n", &[edit], &[file("one.txt", "1\n")]);
    let octopus_b = history.commit(
        "a/two",
        start + 50,
        "Octopus two, from the past\n",
        &[root],
        &[file("two.txt", "2\n")],
    );
    let octopus = history.commit(
        "main",
        start + 700,
        "Merge three\n",
        &[both, octopus_a, octopus_b],
        &[file("one.txt", "1\n"), file("two.txt", "2\n")],
    );
    let folder = history.commit(
        "main",
        start + 800,
        "Replace a file by a folder\n\nCo-authored-by: Two\n  folded lines <two@example.com>\n",
        &[octopus],
        &[
            Entry::delete("README.md"),
            file("README.md/inner.txt", "# Forge\n"),
            file("two.txt", "2\n2\n2\n"),
        ],
    );
    history.branch("release/1.x", edited);
    history.lightweight_tag("v0.1", root);
    history.annotated_tag("v1.0", merge, "Version 1.0\n\nWith notes.\n");
    history.annotated_tag("v2.0", folder, "Version 2.0\n");
    history.reference("refs/merge-requests/1/head", crossed);
    history.reference("refs/keep-around/x", octopus_a);
    let alone =
        history.commit("orphan", start + 250, "Nothing in common\n", &[], &[file("x", "x\n")]);
    history.commit("orphan", start + 150, "Older than its parent\n", &[alone], &[file("x", "y\n")]);
    history
}
