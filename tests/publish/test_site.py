from chaos_utils.publish.site import broken_links


def test_broken_links_are_reported_with_their_page(tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "a.html").write_text(
        '<a href="sub/b.html#there">1</a><a href="sub/b.html#gone">2</a><a href="c.html">3</a>'
        '<a href="#here">4</a><p id="here"></p><a href="https://example.org/x">5</a>'
        '<img src="no.png"><img src="sub/p%20q.png"><a href="sub/">6</a>'
    )
    (tmp_path / "sub" / "b.html").write_text('<p id="there"></p><a href="../a.html">up</a>')
    (tmp_path / "sub" / "p q.png").write_bytes(b"")
    (tmp_path / "sub" / "index.html").write_text("")
    assert list(broken_links(tmp_path)) == [
        "a.html: sub/b.html#gone leads to no place on that page",
        "a.html: c.html leads to no file",
        "a.html: no.png leads to no file",
    ]
