/// The page of the inspector: one document with its style and its script, and no request to elsewhere.
package let inspectorPage = ##"""
    <!doctype html>
    <html lang="en">
    <head>
    <meta charset="utf-8">
    <title>Network Inspector</title>
    <style>
    body { font: 14px system-ui, sans-serif; }
    </style>
    </head>
    <body>
    <h1>Network Inspector</h1>
    <ol id="calls"></ol>
    <script>
    const list = document.getElementById("calls");
    const lines = new Map();
    const source = new EventSource("calls");
    source.addEventListener("reset", () => { list.textContent = ""; lines.clear(); });
    source.addEventListener("removed", event => {
      for (const id of JSON.parse(event.data).ids) { lines.get(id)?.remove(); lines.delete(id); }
    });
    source.addEventListener("call", event => {
      const call = JSON.parse(event.data);
      let line = lines.get(call.id);
      if (!line) { line = document.createElement("li"); list.append(line); lines.set(call.id, line); }
      line.textContent = `${call.method} ${call.url} ${call.status ?? call.state}`;
    });
    </script>
    </body>
    </html>
    """##
