//! Texts that were made to keep a renderer busy, for tests and for measuring.

use crate::Format;

/// Named texts of about `size` bytes.
#[expect(clippy::too_many_lines, reason = "a list of texts, one after the other")]
pub fn texts(size: usize) -> Vec<(&'static str, Format, String)> {
    let repeated = |piece: &str| piece.repeat(size / piece.len().max(1));
    let half = |piece: &str| piece.repeat(size / 2 / piece.len().max(1));
    let root = (1..).take_while(|n| n * n < size).last().unwrap_or(1);
    let mut all = Vec::new();
    for (name, piece) in [
        ("brackets", "["),
        ("closing brackets", "]"),
        ("bracket pairs", "[]"),
        ("pictures", "![l"),
        ("pictures in brackets", "[![l"),
        ("links that do not end", "[a](b"),
        ("links in angles", "[a](<b"),
        ("open links", "[a]("),
        ("wiki links", "[[a"),
        ("stars", "*"),
        ("stars and letters", "*a "),
        ("stars that close", "a* "),
        ("two kinds of emphasis", "*a_ "),
        ("nested emphasis", "*a **a "),
        ("underscores", "_a __a "),
        ("tildes", "~~a ~a "),
        ("back-ticks", "`"),
        ("quotes", "> "),
        ("quotes in lines", "> a\n"),
        ("lists in lists", "- "),
        ("numbers in numbers", "1. "),
        ("list items", "- a\n"),
        ("tasks", "- [ ] a\n"),
        ("headings", "# a\n"),
        ("rules", "---\n\n"),
        ("cells", "|a"),
        ("rows", "|a|b|\n|-|-|\n"),
        ("tags", "<b>"),
        ("tags with attributes", "<b a=\"1\">"),
        ("tables in tables", "<table><tr><td>"),
        ("blocks of tags", "<div>\n\n"),
        ("attributes", "<a b "),
        ("comments", "<!-- "),
        ("questions", "<?"),
        ("declarations", "<!A "),
        ("data", "<![CDATA["),
        ("angles", "<"),
        ("addresses", "http://"),
        ("addresses with brackets", "http://a.b/("),
        ("mails", "a@b."),
        ("www", "www."),
        ("entities", "&#0;"),
        ("ampersands", "&"),
        ("footnotes", "[^1]"),
        ("footnote definitions", "[^a]: b\n"),
        ("definitions", "[a]: b\n"),
        ("hard breaks", "a\\\n"),
        ("backslashes", "\\"),
        ("blanks", "a \n"),
        ("empty lines", "\n"),
        ("zeros", "\0"),
        ("colons", ":a:"),
        ("braces", "{a "),
        ("macros", "link:a"),
        ("alerts", "> [!NOTE]\n"),
        ("front matter", "---\n"),
        ("a link in each paragraph", "[a](b)\n\n"),
        ("names of everything", "[[x]] @root #1 !1 "),
    ] {
        all.push((name, Format::Markdown, repeated(piece)));
    }
    let ticks: String = (1..root).map(|n| format!("{} ", "`".repeat(n))).collect();
    all.push(("back-ticks of every length", Format::Markdown, ticks));
    all.push(("deep and wide", Format::Markdown, half("> ") + "\n" + &half("a\n")));
    all.push(("deep list, many lines", Format::Markdown, half("- ") + "\n" + &half("\n")));
    all.push(("staircase", Format::Markdown, (0..root).map(|n| " ".repeat(n) + "- a\n").collect()));
    let row = |cells: &str, times: usize| cells.repeat(times);
    let wide =
        format!("{}\n{}\n", row("|a", root / 2), row("|-", root / 2)) + &row("|a\n", size / 4);
    all.push(("a wide table with short rows", Format::Markdown, wide));
    let long = format!("[a]: /{}\n\n{}", "u".repeat(size / 2), "[a]".repeat(size / 6));
    all.push(("a long definition, used often", Format::Markdown, long));
    let notes = format!("[^a]: x\n\n{}", "[^a] ".repeat(size / 5));
    all.push(("one footnote, used often", Format::Markdown, notes));
    let many: String = (0..size / 24).map(|n| format!("[^{n}] \n\n[^{n}]: x\n")).collect();
    all.push(("many footnotes", Format::Markdown, many));
    let breaks = half("<br>") + "<table>" + &half("<b></b>");
    all.push(("what is moved out of a table", Format::Markdown, breaks));
    let bold: String = (0..size / 20).map(|n| format!("<i a={n}>\n\n")).collect();
    all.push(("open emphasis in every block", Format::Markdown, bold));
    all.push(("emphasis open over blocks", Format::Markdown, "<b>".repeat(40) + &half("a\n\n")));
    all.push(("one tag", Format::Markdown, format!("<b {}>x</b>", repeated("a1 "))));
    for (format, pieces) in [
        (
            Format::Asciidoc,
            &[
                "*a ",
                "*",
                "_a* ",
                "`a ",
                "`",
                "link:",
                "link:a[",
                "image:a[",
                "<<a",
                "http://",
                "* a\n",
                "** a\n* a\n",
                "|===\n|a\n",
                "----\n",
                "____\n",
                "= a\n",
                "a:: b\n",
                "[",
                ". a\n",
                "#a ",
                "xref:a[b",
                "**",
                "<b>",
                "[[a",
                "*_`#",
                "|a ",
            ][..],
        ),
        (
            Format::Org,
            &[
                "*a ",
                "*",
                "/a/ ",
                "=a ",
                "~a",
                "[[a",
                "[[a][",
                "]]",
                "* a\n",
                "- a\n",
                " - a\n",
                "|a|\n",
                "#+BEGIN_SRC\n",
                "#+BEGIN_QUOTE\n",
                ":a:\n",
                "http://",
                "+a ",
                "<b>",
                "- a :: b\n",
                "+a+b ",
            ][..],
        ),
        (
            Format::Rdoc,
            &[
                "*a ", "+a ", "_a ", "{a", "{a}[", "{", "}", "= a\n", "* a\n", "[a] b\n", "  a\n",
                "a:: b\n", "http://", "<b>",
            ][..],
        ),
    ] {
        for piece in pieces {
            all.push((piece, format, repeated(piece)));
        }
        if format == Format::Asciidoc {
            let cells = format!("|===\n{}\n|===\n", repeated("|a "));
            all.push(("a table of very many cells", format, cells));
        }
        let steps = (0..root).map(|n| " ".repeat(n) + "- a\n").collect();
        all.push(("staircase", format, steps));
    }
    all
}
