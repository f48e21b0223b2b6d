import("./posenc/posenc.js");
