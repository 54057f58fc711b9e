//@ piece example_names
/* A name of the model as a terminal may show it, until the next call: other bytes than letters, digits and
   signs of ASCII as \xNN, the first 200 of them. */
static const char* shown(const char* name) {
  static char text[4 * 200 + 4];
  size_t used = 0;
  int i;
  text[0] = 0;
  for (i = 0; name[i] != 0 && i < 200; ++i) {
    const unsigned char c = (unsigned char)name[i];
    if (c >= 0x20 && c < 0x7f)
      used += (size_t)snprintf(text + used, sizeof text - used, "%c", c);
    else
      used += (size_t)snprintf(text + used, sizeof text - used, "\\x%02x", c);
  }
  if (name[i] != 0) snprintf(text + used, sizeof text - used, "...");
  return text;
}
