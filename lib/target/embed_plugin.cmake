# cmake -DFOLDER=plugin -DOUTPUT=out.cpp -P embed_plugin.cmake
file(READ ${FOLDER}/plugin.json json)
file(READ ${FOLDER}/plugin.rules rules)
# Whole, not as a list: the text has semicolons.
file(READ ${FOLDER}/plugin.c source)
file(WRITE ${OUTPUT} "#include \"plugin_templates.h\"

namespace mrvlc::target {

const std::string_view kPluginJson = R\"PLUGIN(${json})PLUGIN\";
const std::string_view kPluginRules = R\"PLUGIN(${rules})PLUGIN\";
const std::string_view kPluginSource = R\"PLUGIN(${source})PLUGIN\";

}  // namespace mrvlc::target
")
