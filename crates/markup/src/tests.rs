//! Rendering, sanitising and time limits of every markup language.

use proptest::prelude::*;

use crate::{
    Format, Links,
    bounds::{LONGEST_HTML, MOST_STEPS},
    hostile, inline, markdown, plain, render,
};

fn html(format: Format, text: &str) -> String {
    render(text, format, &Links::of_wiki("/g/-/wikis", "folder"))
}

/// Each text holds its piece of HTML.
fn check(format: Format, examples: &[(&str, &str)]) {
    for (text, expected) in examples {
        let got = html(format, text);
        assert!(got.contains(expected), "{format:?} {text:?}\nwanted {expected}\ngot {got}");
    }
}

#[test]
fn markdown_is_what_its_writers_expect() {
    check(
        Format::Markdown,
        &[
            ("# Big *news*", "<h1"),
            ("# Big *news*", "id=\"user-content-big-news\""),
            ("[to](#big-news)", "href=\"#user-content-big-news\""),
            ("**b** _i_ `c` ~~d~~", "<strong>b</strong> <em>i</em> <code>c</code> <del>d</del>"),
            ("|a|b|\n|:-:|-|\n|1|2|", "<td align=\"center\">1</td>"),
            ("- [x] done", "<input"),
            ("- [x] done", "checked=\"\""),
            ("see https://example.com.", "<a href=\"https://example.com\""),
            ("a[^1]\n\n[^1]: note", "class=\"footnotes\""),
            ("```rust\nfn a() {}\n```", "<code"),
            ("[[Page name]]", "href=\"/g/-/wikis/Page-name\""),
            ("[[words|page]]", "href=\"/g/-/wikis/page\""),
            ("[a](./b)", "href=\"/g/-/wikis/folder/b\""),
            ("![a](uploads/00/p.png)", "src=\"/g/-/wikis/uploads/00/p.png\""),
            ("---\ntitle: x\n---\ntext", "<p>text</p>"),
            ("<details><summary>more</summary>\n\n*text*\n\n</details>", "<summary>more</summary>"),
            ("a <kbd>Ctrl</kbd>", "<kbd>Ctrl</kbd>"),
            ("> [!NOTE]\n> hear", "hear"),
        ],
    );
}

#[test]
fn asciidoc_is_what_its_writers_expect() {
    check(
        Format::Asciidoc,
        &[
            ("= Title\n:toc:\n\nText", "<h1 id=\"user-content-title\">Title</h1>\n<p>Text</p>"),
            ("== Part", "<h2"),
            ("*b* _i_ `c` #m#", "<strong>b</strong> <em>i</em> <code>c</code> <mark>m</mark>"),
            ("un**b**able", "un<strong>b</strong>able"),
            ("* a\n** b\n* c", "<ul>\n<li>a<ul>\n<li>b</li></ul>\n</li>\n<li>c</li></ul>"),
            (". one\n. two", "<ol>\n<li>one</li>\n<li>two</li></ol>"),
            (
                "[source,rust]\n----\nfn a() {}\n----",
                "<pre lang=\"rust\"><code>fn a() {}\n</code></pre>",
            ),
            ("____\nsaid\n____", "<blockquote>\n<p>said</p>\n</blockquote>"),
            ("|===\n|a |b\n|===", "<td>a</td><td>b</td>"),
            ("NOTE: careful", "<strong>NOTE</strong> careful"),
            ("https://example.com[words]", ">words</a>"),
            ("link:page[words]", "href=\"/g/-/wikis/page\""),
            ("image::p.png[alt]", "<img src=\"/g/-/wikis/folder/p.png\" alt=\"alt\">"),
            ("term:: meaning", "<dt>term</dt>\n<dd>meaning</dd>"),
            ("// hidden\nshown", "<p>shown</p>"),
            ("<b>no</b>", "&lt;b&gt;no&lt;/b&gt;"),
        ],
    );
}

#[test]
fn org_is_what_its_writers_expect() {
    check(
        Format::Org,
        &[
            ("#+TITLE: T\n* One :tag:\nText", "<h1 id=\"user-content-one\">One</h1>\n<p>Text</p>"),
            (
                "*b* /i/ =c= ~d~ +e+ _u_",
                "<strong>b</strong> <em>i</em> <code>c</code> <code>d</code> <del>e</del> <u>u</u>",
            ),
            ("- a\n  - b\n- [X] c", "<li>a<ul>\n<li>b</li></ul>\n</li>\n<li><input"),
            ("1. one\n2. two", "<ol>\n<li>one</li>\n<li>two</li></ol>"),
            (
                "#+BEGIN_SRC rust\nfn a() {}\n#+END_SRC",
                "<pre lang=\"rust\"><code>fn a() {}\n</code></pre>",
            ),
            ("#+BEGIN_QUOTE\nsaid\n#+END_QUOTE", "<blockquote>\n<p>said</p>\n</blockquote>"),
            ("| a | b |\n|---+---|\n| 1 | 2 |", "<td>1</td><td>2</td>"),
            ("[[https://example.com][words]]", ">words</a>"),
            ("[[page]]", "href=\"/g/-/wikis/page\""),
            ("- term :: meaning", "<dt>term</dt>\n<dd>meaning</dd>"),
            ("a ~ä~ b", "<code>ä</code>"),
            ("<b>no</b>", "&lt;b&gt;no"),
        ],
    );
}

#[test]
fn rdoc_is_what_its_writers_expect() {
    check(
        Format::Rdoc,
        &[
            ("= Title\nText", "<h1 id=\"user-content-title\">Title</h1>\n<p>Text</p>"),
            ("*b* _i_ +c+", "<strong>b</strong> <em>i</em> <code>c</code>"),
            ("* a\n* b", "<ul>\n<li>a</li>\n<li>b</li></ul>"),
            ("Text\n\n  code here\n\nText", "<pre><code>code here</code></pre>"),
            ("{words}[https://example.com]", ">words</a>"),
            ("[label] meaning", "<dt>label</dt>\n<dd>meaning</dd>"),
            ("--\nhidden\n++\nshown", "<p>shown</p>"),
            ("---", "<hr>"),
            ("<b>no</b>", "&lt;b&gt;no"),
        ],
    );
}

#[test]
fn nothing_gets_through_that_acts() {
    let attacks = [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "[a](javascript:alert(1))",
        "![a](javascript:alert(1))",
        "[[javascript:alert(1)]]",
        "[[javascript:alert(1)][x]]",
        "link:javascript:alert(1)[x]",
        "{x}[javascript:alert(1)]",
        "<a href=\"data:text/html,<script>alert(1)</script>\">x</a>",
        "<svg><script>alert(1)</script></svg>",
        "<math><mtext><table><mglyph><style><img src=x onerror=alert(1)>",
        "<iframe src=//evil.example></iframe>",
        "<form action=//evil.example><button>x</button></form>",
        "<input type=text name=password>",
        "<style>*{display:none}</style>",
        "<div style=\"position:fixed\" onclick=\"x()\">x</div>",
        "`<script>`<script>alert(1)</script>",
        "# <img src=x onerror=alert(1)>",
        "|<script>alert(1)</script>|\n|-|",
    ];
    for format in [Format::Markdown, Format::Asciidoc, Format::Org, Format::Rdoc, Format::Plain] {
        for text in attacks {
            let got = html(format, text).to_lowercase();
            // What stands inside of tags; text may say whatever it likes.
            for tag in got.split('<').skip(1).filter_map(|rest| rest.split('>').next()) {
                let tag = format!("<{tag}");
                for bad in ["<script", "<iframe", "<form", "<style", "<svg", "<math", "<button"] {
                    assert!(!tag.starts_with(bad), "{format:?} {text}: {got}");
                }
                for bad in
                    [" style=", " name=", " onerror=", " onclick=", "=\"javascript:", "=\"data:"]
                {
                    assert!(!tag.contains(bad), "{format:?} {text}: {got}");
                }
            }
        }
    }
}

#[test]
fn a_line_is_no_paragraph() {
    for (text, expected) in [
        ("Written by **Mia** & co", "Written by <strong>Mia</strong> &amp; co"),
        ("<i>x</i> [a](javascript:x)", "<i>x</i> <a rel=\"nofollow noreferrer noopener\">a</a>"),
        ("# Title", "user-content-title"),
        ("one\n\ntwo", "<p>one</p>\n<p>two</p>\n"),
        ("", ""),
    ] {
        let got = inline(text);
        assert!(got.contains(expected), "{text}: {got}");
        assert_eq!(got.contains("<p>"), expected.contains("<p>"), "{text}: {got}");
    }
}

#[test]
fn a_text_that_is_too_much_is_shown_as_it_was_written() {
    for text in ["> ".repeat(500), "x".repeat(3 << 20), "- a\n".repeat(200_000)] {
        assert!(html(Format::Markdown, &text).starts_with("<pre>"), "{text:.20}");
    }
    assert_eq!(html(Format::Plain, "a < b"), "<pre>a &lt; b</pre>\n");
}

#[test]
fn untidy_html_is_shown_as_text() {
    let got = html(Format::Markdown, "<b>never closed\n\n*but* this goes on");
    assert!(got.contains("&lt;b&gt;never closed"), "{got}");
    assert!(got.contains("<em>but</em>"), "{got}");
}

#[test]
fn twice_the_text_is_twice_the_work() {
    let small = hostile::texts(8 << 10);
    let large = hostile::texts(32 << 10);
    for ((name, format, short), (_, _, long)) in small.into_iter().zip(large) {
        if format == Format::Markdown {
            let steps = |text: &str| markdown::counted(text, &Links::none()).1;
            let (few, many) = (steps(&short), steps(&long));
            let wide = name.starts_with("a wide table") && many <= MOST_STEPS;
            assert!(many <= few * 5 + 20 || wide, "{name}: {few} steps became {many}");
        }
        let (few, many) = (html(format, &short).len(), html(format, &long).len());
        assert!(
            many <= few * 6 + 1_000 && many <= LONGEST_HTML * 2,
            "{name}: {few} -> {many} bytes"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn no_text_is_too_strange(text in "([-*_=~`+/#|:.<>\\[\\]{}()!&\"' \\nax1äß€]{1,6}|http://|link:|\\|===|----|\\[\\[){0,60}") {
        for format in [Format::Markdown, Format::Asciidoc, Format::Org, Format::Rdoc, Format::Plain] {
            let got = html(format, &text);
            prop_assert!(!got.contains("<script"));
            // Sanitised once is sanitised for good; what is shown as it was written has no tag to sanitise.
            if got == plain::shown(&text) {
                prop_assert_eq!(got.matches('<').count(), 2);
            } else {
                prop_assert_eq!(crate::sanitize::clean(&got), got);
            }
        }
    }
}
