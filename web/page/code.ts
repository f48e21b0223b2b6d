// A copy button for each listing. Without script the listing is complete; the button only saves a selection.

export function copyButtons(): void {
  // Absent outside secure contexts.
  if (!navigator.clipboard) return;
  for (const block of document.querySelectorAll<HTMLElement>(".code")) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = "Copy";
    const label = block.querySelector(".code-label")?.textContent ?? "";
    button.setAttribute("aria-label", `Copy the ${label} listing`);
    button.addEventListener("click", async () => {
      const said = await navigator.clipboard.writeText(block.querySelector("code")?.textContent ?? "").then(
        () => "Copied",
        () => "Not allowed",
      );
      button.textContent = said;
      announce(said);
      setTimeout(() => {
        button.textContent = "Copy";
      }, 2000);
    });
    block.append(button);
  }
}

function announce(text: string): void {
  let region = document.querySelector<HTMLElement>("#announce");
  if (!region) {
    region = document.createElement("p");
    region.id = "announce";
    region.className = "visually-hidden";
    region.setAttribute("role", "status");
    document.body.append(region);
  }
  region.textContent = text;
}
