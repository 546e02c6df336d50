/* The theme's button that prints the page, whose own handler would be a script inside the page. */
document.addEventListener("click", ({target}) => {
  if (target.closest("[data-prints]")) window.print();
});
